// feedbus: reads a condition of a config; every mistake in it is found.

import FeedbusPlugin

/// Reads one condition.
struct ConditionReading {
    private(set) var problems: [ConfigProblem] = []
    private var pointers: [JSONPointer] = []
    private var numbers: [JSONPointer: Int] = [:]

    private static let comparisons = [
        "exists", "equals", "not_equals", "in", "not_in", "less", "less_or_equal", "greater", "greater_or_equal",
        "starts_with", "contains",
    ]
    private static let groups = ["all", "any", "not"]
    /// What people write elsewhere.
    private static let synonyms = [
        "eq": "equals", "is": "equals", "==": "equals", "=": "equals", "ne": "not_equals", "!=": "not_equals",
        "<": "less",
        "lt": "less", "lte": "less_or_equal", "<=": "less_or_equal", "gt": "greater", ">": "greater",
        "gte": "greater_or_equal", ">=": "greater_or_equal", "at_least": "greater_or_equal", "at_most": "less_or_equal",
        "path": "pointer", "field": "pointer", "key": "pointer", "and": "all", "or": "any", "none": "not",
        "prefix": "starts_with", "one_of": "in", "values": "in", "includes": "contains", "has": "exists",
        "present": "exists", "nin": "not_in",
    ]

    mutating func read(_ value: PositionedValue) -> FastCondition? {
        guard let tree = tree(value, depth: 0), problems.isEmpty else { return nil }
        return FastCondition(tree: tree, finder: JSONFinder(pointers))
    }

    private mutating func tree(_ value: PositionedValue, depth: Int) -> ConditionTree? {
        guard let members = value.members else {
            add(
                value,
                "a condition must be an object such as { \"pointer\": \"/type\", \"equals\": \"PushEvent\" }, found"
                    + " \(value.kindName)", "wrong-type")
            return nil
        }
        var parts: [ConditionTree] = []
        let pointer = members.first { $0.key == "pointer" }.flatMap { readPointer($0.value) }
        let hasPointer = members.contains { $0.key == "pointer" }
        var tests = 0
        for member in members where member.key != "pointer" {
            if ConditionReading.groups.contains(member.key) {
                tests += 1
                if let group = group(member, depth: depth) { parts.append(group) }
            } else if ConditionReading.comparisons.contains(member.key) {
                tests += 1
                if !hasPointer {
                    add(
                        member.value, "\"\(member.key)\" needs a \"pointer\" beside it: what is compared",
                        "missing-option")
                } else if let test = comparison(member), let pointer {
                    parts.append(.compare(pointer: number(pointer), test))
                }
            } else {
                unknown(member)
                tests += 1
            }
        }
        if tests == 0 {
            add(
                value,
                hasPointer
                    ? "the condition says nothing about the value: add \(oneOf(ConditionReading.comparisons))"
                    : "an empty condition: it needs a \"pointer\" and a comparison, or \(oneOf(ConditionReading.groups))",
                "missing-option")
        }
        return parts.count == 1 ? parts[0] : .all(parts)
    }

    private mutating func group(_ member: PositionedValue.Member, depth: Int) -> ConditionTree? {
        // The config reader has a bound of its own; this one keeps the evaluation shallow.
        guard depth < 64 else {
            add(member.value, "conditions may be nested 64 deep", "out-of-range")
            return nil
        }
        if member.key == "not" { return tree(member.value, depth: depth + 1).map { .not($0) } }
        guard let elements = member.value.elements, !elements.isEmpty else {
            add(member.value, "\"\(member.key)\" must be a list of conditions that is not empty", "wrong-type")
            return nil
        }
        let parts = elements.compactMap { tree($0, depth: depth + 1) }
        return member.key == "all" ? .all(parts) : .any(parts)
    }

    private mutating func comparison(_ member: PositionedValue.Member) -> Comparison? {
        let value = member.value
        switch member.key {
        case "exists":
            guard case .bool(let flag) = value.content else {
                return wrong(member, "true or false")
            }
            return .exists(flag)
        case "starts_with", "contains":
            guard let text = value.string else { return wrong(member, "a string") }
            return member.key == "contains" ? .contains(Bytes(text)) : .startsWith(Bytes(text))
        case "in", "not_in":
            guard let elements = value.elements, !elements.isEmpty else {
                return wrong(member, "a list of values that is not empty")
            }
            var scalars: [Scalar] = []
            for element in elements {
                if let scalar = Scalar(element) {
                    scalars.append(scalar)
                } else {
                    add(
                        element,
                        "\"\(member.key)\" takes strings, numbers, true, false and null, not \(element.kindName)",
                        "wrong-type")
                }
            }
            return member.key == "in" ? .inside(ScalarSet(scalars)) : .outside(ScalarSet(scalars))
        case "equals", "not_equals":
            guard let scalar = Scalar(value) else { return wrong(member, "a string, a number, true, false or null") }
            return member.key == "equals" ? .equals(scalar) : .differs(scalar)
        default:
            guard let scalar = Scalar(value), value.isOrdered else { return wrong(member, "a number or a string") }
            switch member.key {
            case "less": return .less(scalar)
            case "less_or_equal": return .lessOrEqual(scalar)
            case "greater": return .greater(scalar)
            default: return .greaterOrEqual(scalar)
            }
        }
    }

    private mutating func readPointer(_ value: PositionedValue) -> JSONPointer? {
        guard let text = value.string else {
            add(value, "\"pointer\" must be a JSON pointer such as \"/type\", found \(value.kindName)", "wrong-type")
            return nil
        }
        guard let pointer = JSONPointer(text) else {
            add(value, "\"pointer\" must be a JSON pointer such as \"/type\", found \"\(text)\"", "not-a-pointer")
            return nil
        }
        return pointer
    }

    private mutating func number(_ pointer: JSONPointer) -> Int {
        if let known = numbers[pointer] { return known }
        pointers.append(pointer)
        numbers[pointer] = pointers.count - 1
        return pointers.count - 1
    }

    // MARK: - Problems

    private mutating func add(_ value: PositionedValue, _ message: String, _ code: String) {
        problems.append(value.problem(message, code: code))
    }

    private mutating func wrong(_ member: PositionedValue.Member, _ expected: String) -> Comparison? {
        add(member.value, "\"\(member.key)\" must be \(expected), found \(member.value.kindName)", "wrong-type")
        return nil
    }

    private mutating func unknown(_ member: PositionedValue.Member) {
        let names = ConditionReading.comparisons + ConditionReading.groups + ["pointer"]
        let near = ConditionReading.synonyms[member.key] ?? nearestName(to: member.key, in: names)
        problems.append(
            ConfigProblem(
                "\"\(member.key)\" is no part of a condition", at: member.keyPosition, code: "unknown-option",
                path: member.value.path, suggestion: near))
    }

    private func oneOf(_ words: [String]) -> String { words.map { "\"\($0)\"" }.joined(separator: ", ") }
}

extension PositionedValue {
    /// A number or a string.
    fileprivate var isOrdered: Bool {
        switch content {
        case .number, .string: true
        default: false
        }
    }
}
