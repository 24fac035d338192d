// feedbus: the text of a line with placeholders, taken apart once.

import FeedbusPlugin

/// `"{time} {node} {/actor/login}"`, parsed.
struct LineTemplate: Sendable {
    enum Piece: Sendable, Hashable {
        case text(String)
        /// Local time, with the date where it is not today's.
        case time
        /// The CloudEvents `time` as it stands in the event: RFC 3339.
        case timestamp
        case node
        case type
        case id
        case source
        case subject
        /// The short text that the plugin gives of its events.
        case headline
        /// `data`, JSON text.
        case data
        /// The value at a place in `data`: a string's characters, JSON text of anything else, nothing where it is missing.
        case pointer(JSONPointer)
    }

    /// What is wrong with a template, in words.
    struct Problem: Error, Hashable {
        var message: String
        var suggestion: String?
    }

    private static let named: [(name: String, piece: Piece)] = [
        ("time", .time), ("timestamp", .timestamp), ("node", .node), ("type", .type), ("id", .id), ("source", .source),
        ("subject", .subject), ("headline", .headline), ("data", .data),
    ]

    /// The names that may stand in braces.
    static var placeholders: [String] { named.map(\.name) }

    /// The format `line`.
    static let line = LineTemplate(pieces: [.time, .text(" "), .node, .text(" "), .headline])

    let pieces: [Piece]

    private init(pieces: [Piece]) { self.pieces = pieces }

    init(_ text: String) throws(Problem) {
        var pieces: [Piece] = []
        var plain = ""
        var rest = text[...]
        while let character = rest.popFirst() {
            switch character {
            case "{" where rest.first == "{", "}" where rest.first == "}":
                plain.append(rest.removeFirst())
            case "{":
                guard let end = rest.firstIndex(of: "}") else {
                    throw Problem(message: "a \"{\" in the template has no \"}\" (a brace itself is written twice)")
                }
                if !plain.isEmpty { pieces.append(.text(plain)) }
                plain = ""
                pieces.append(try LineTemplate.piece(String(rest[..<end])))
                rest = rest[rest.index(after: end)...]
            case "}":
                throw Problem(message: "a \"}\" in the template has no \"{\" (a brace itself is written twice)")
            default:
                plain.append(character)
            }
        }
        if !plain.isEmpty { pieces.append(.text(plain)) }
        self.init(pieces: pieces)
    }

    private static func piece(_ name: String) throws(Problem) -> Piece {
        if name.hasPrefix("/") {
            guard let pointer = JSONPointer(name) else {
                throw Problem(message: "{\(name)} in the template is no JSON pointer")
            }
            return .pointer(pointer)
        }
        if let known = named.first(where: { $0.name == name }) { return known.piece }
        throw Problem(
            message: "unknown placeholder {\(name)} in the template; known are "
                + placeholders.map { "{\($0)}" }.joined(separator: ", ") + " and {/pointer/into/data}",
            suggestion: nearestName(to: name, in: placeholders))
    }
}
