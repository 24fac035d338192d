// feedbus: a JSON text to be printed, as far as the schema needs it.

import FeedbusPlugin

/// A piece of JSON with its members in order.
indirect enum SchemaNode {
    struct Member {
        var key: String
        var value: SchemaNode
    }

    /// JSON text as it is.
    case raw(String)
    case list([SchemaNode])
    case members([Member])

    static func object(_ members: [(key: String, value: SchemaNode)]) -> SchemaNode {
        .members(members.map { Member(key: $0.key, value: $0.value) })
    }

    static func text(_ text: String) -> SchemaNode { .raw(jsonText(text)) }

    static func texts(_ texts: [String]) -> SchemaNode { .list(texts.map { .text($0) }) }

    /// The text with two blanks for each level; what is short stands on one line.
    func print(indent: String = "") -> String {
        let inner = indent + "  "
        switch self {
        case .raw(let text): return text
        case .list(let elements):
            if isFlat { return "[" + elements.map { $0.print() }.joined(separator: ", ") + "]" }
            return "[\n" + elements.map { inner + $0.print(indent: inner) }.joined(separator: ",\n") + "\n\(indent)]"
        case .members(let members):
            if members.isEmpty { return "{}" }
            if isFlat {
                return "{ " + members.map { "\(jsonText($0.key)): \($0.value.print())" }.joined(separator: ", ") + " }"
            }
            return "{\n"
                + members.map { "\(inner)\(jsonText($0.key)): \($0.value.print(indent: inner))" }.joined(
                    separator: ",\n")
                + "\n\(indent)}"
        }
    }

    private var isFlat: Bool {
        func isRaw(_ node: SchemaNode) -> Bool { if case .raw = node { true } else { false } }
        switch self {
        case .raw: return true
        case .list(let elements): return elements.allSatisfy(isRaw)
        case .members(let members): return members.count < 2 && members.allSatisfy { isRaw($0.value) }
        }
    }
}
