// feedbus: ${NAME} in the strings of a config.

import FeedbusBase
import FeedbusJSON

/// Replaces `${NAME}` and `${NAME:-default}` in string values that are already parsed, so that no value of the
/// environment can change the structure of a config. `$${` stands for `${`. Keys are left alone.
struct EnvironmentSubstitution {
    let environment: [String: String]
    let text: SourceText
    private(set) var problems: [ConfigProblem] = []
    /// Paths of the strings that could not be replaced: what else is wrong with them is no news.
    private(set) var unresolved: Set<String> = []

    init(environment: [String: String], text: SourceText) {
        self.environment = environment
        self.text = text
    }

    mutating func apply(to value: PositionedValue) -> PositionedValue {
        var copy = value
        switch value.content {
        case .string(let string):
            guard string.unicodeScalars.contains("$") else { return value }
            copy.content = .string(substitute(in: string, of: value))
        case .array(let elements):
            copy.content = .array(elements.map { apply(to: $0) })
        case .object(let members):
            copy.content = .object(
                members.map { member in
                    var member = member
                    member.value = apply(to: member.value)
                    return member
                })
        case .null, .bool, .number:
            return value
        }
        return copy
    }

    private mutating func substitute(in string: String, of value: PositionedValue) -> String {
        let scalars = Array(string.unicodeScalars)
        var result = String.UnicodeScalarView()
        var at = 0
        func stands(_ wanted: String, at index: Int) -> Bool { scalars[index...].starts(with: wanted.unicodeScalars) }
        while at < scalars.count {
            if stands("$${", at: at) {
                result.append(contentsOf: "${".unicodeScalars)
                at += 3
            } else if stands("${", at: at) {
                let end = scalars[at...].firstIndex(of: "}") ?? scalars.endIndex
                let inside = scalars[(at + 2)..<end]
                switch reference(inside, isClosed: end < scalars.endIndex) {
                case .success(let found): result.append(contentsOf: found.unicodeScalars)
                case .failure(let failure):
                    unresolved.insert(value.path)
                    problems.append(
                        ConfigProblem(
                            failure.message, at: text.position(ofScalar: at, inStringAt: value.position),
                            code: failure.code, path: value.path, suggestion: failure.suggestion))
                }
                at = min(end + 1, scalars.count)
            } else {
                result.append(scalars[at])
                at += 1
            }
        }
        return String(result)
    }

    private struct Failure: Error {
        var message: String
        var code: String
        var suggestion: String?
    }

    /// What stands between the braces.
    private func reference(_ inside: ArraySlice<Unicode.Scalar>, isClosed: Bool) -> Result<String, Failure> {
        func isLetter(_ scalar: Unicode.Scalar) -> Bool {
            scalar == "_" || ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
        }
        let nameScalars = inside.prefix { isLetter($0) || ("0"..."9").contains($0) }
        let rest = inside[nameScalars.endIndex...]
        guard isClosed, let first = nameScalars.first, isLetter(first),
            rest.isEmpty || rest.starts(with: ":-".unicodeScalars)
        else {
            return .failure(
                Failure(
                    message:
                        "\"${\" must begin ${NAME} or ${NAME:-default}; write $${ for the two characters themselves",
                    code: "malformed-variable"))
        }
        var name = String.UnicodeScalarView()
        name.append(contentsOf: nameScalars)
        let variable = String(name)
        // As in a shell, the default also stands in for an empty value.
        if let found = environment[variable], rest.isEmpty || !found.isEmpty { return .success(found) }
        guard rest.isEmpty else {
            var fallback = String.UnicodeScalarView()
            fallback.append(contentsOf: rest.dropFirst(2))
            return .success(String(fallback))
        }
        return .failure(
            Failure(
                message: "the environment variable \(variable) is not set"
                    + " (${\(variable):-default} would give it a default)", code: "unset-variable"))
    }
}
