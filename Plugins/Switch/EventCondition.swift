// feedbus: a condition on the data of an event.

import FeedbusPlugin

/// What must be true of the value at a pointer: `{ "pointer": "/type", "in": ["PushEvent", "ForkEvent"] }`.
///
/// Values are compared by texts: strings decoded, numbers as they are written.
struct EventCondition: PluginOptions {
    var pointer: JSONPointer?
    var equals: Bytes?
    var inside: Set<Bytes>?
    var exists: Bool?

    static let kind = OptionKind.object(summaries)

    static let options: [Option<EventCondition>] = [
        .pointer("pointer", \.pointer, help: "which value of the data is looked at").synonyms("path", "field", "key"),
        .custom(
            "equals", \.equals, kind: scalar, help: "it is this value", example: "\"PushEvent\"", show: { _ in nil },
            read: { value, _ in
                if let text = text(of: value) { return .value(text) }
                return .problems([
                    value.problem(
                        "\"equals\" must be a string, a number, true, false or null, found \(value.kindName)",
                        code: "wrong-type")
                ])
            }
        ).synonyms("eq", "is"),
        .custom(
            "in", \.inside, kind: .list(scalar), help: "it is one of these values",
            example: "[\"PushEvent\", \"ForkEvent\"]", show: { _ in nil },
            read: { value, _ in
                let texts = value.elements?.map { text(of: $0) } ?? []
                if !texts.isEmpty, !texts.contains(nil) { return .value(Set(texts.compactMap { $0 })) }
                return .problems([
                    value.problem(
                        "\"in\" must be a list of strings, numbers, true, false or null that is not empty",
                        code: "wrong-type")
                ])
            }
        ).synonyms("one_of", "values"),
        .custom(
            "exists", \.exists, kind: .boolean, help: "it is there, or it is not", example: "true",
            show: { _ in nil },
            read: { value, _ in
                if case .bool(let flag) = value.content { return .value(flag) }
                return .problems([
                    value.problem("\"exists\" must be true or false, found \(value.kindName)", code: "wrong-type")
                ])
            }),
    ]
    private static let scalar = OptionKind.either([.string, .integer(.min ... .max), .boolean])

    /// A value of a config as a condition; all problems at once.
    static func read(
        _ name: String, _ value: PositionedValue, _ context: OptionContext
    ) -> OptionReading<EventCondition> {
        guard value.members != nil else {
            return .problems([
                value.problem(
                    "\"\(name)\" must be a condition such as { \"pointer\": \"/type\", \"equals\": \"PushEvent\" }, found"
                        + " \(value.kindName)", code: "wrong-type")
            ])
        }
        let (condition, problems) = decode(value, owner: value, context: context)
        guard problems.isEmpty else { return .problems(problems) }
        let tests = [condition.equals != nil, condition.inside != nil, condition.exists != nil].count { $0 }
        guard condition.pointer != nil, tests == 1 else {
            return .problems([
                value.problem(
                    "the condition \"\(name)\" needs a \"pointer\" and one of \"equals\", \"in\" and \"exists\"",
                    code: "missing-option")
            ])
        }
        return .value(condition)
    }

    func holds(for event: Event) -> Bool {
        guard let pointer else { return false }
        let value = (try? JSON.parse(event.data))?[pointer]
        if let exists { return (value != nil) == exists }
        guard let text = value.flatMap({ Self.text(of: $0) }) else { return false }
        return text == equals || inside?.contains(text) == true
    }

    /// The text that equal values share; nil for objects and lists.
    private static func text(of value: PositionedValue) -> Bytes? {
        switch value.content {
        case .null: "null"
        case .bool(let flag): flag ? "true" : "false"
        case .number(let text): Bytes(text)
        case .string(let text): JSON.quote(text)
        case .array, .object: nil
        }
    }

    private static func text(of value: JSONValue) -> Bytes? {
        switch value.kind {
        case .array, .object: nil
        case .string: value.string.map { JSON.quote($0) }
        case .null, .bool, .number: value.raw
        }
    }
}
