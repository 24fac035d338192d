// feedbus: how much of the past the very first poll emits.

public import FeedbusPlugin

/// The option `history`.
public enum History: Sendable, Equatable {
    case all
    case none
    /// The newest so many.
    case newest(Int)

    /// What is emitted of the events of the very first poll, which come oldest first.
    public func limit<Element>(_ events: [Element]) -> ArraySlice<Element> {
        switch self {
        case .all: events[...]
        case .none: []
        case .newest(let count): events.suffix(count)
        }
    }

    public static func option<Root: PluginOptions>(_ name: String, _ path: OptionPath<Root, History>) -> Option<Root> {
        let counts = 0...10_000
        return .custom(
            name, path, kind: .either([.choice(["all", "none"]), .integer(counts)]),
            help: "how many of the events that are there already the very first poll emits: all, none, or the newest N",
            example: "50", show: \.text
        ) { value, _ in
            let wanted = "\"all\", \"none\" or a whole number from \(counts.lowerBound) to \(counts.upperBound)"
            switch value.content {
            case .string("all"): return .value(.all)
            case .string("none"): return .value(.none)
            case .number(let text):
                if let count = Int(text), counts.contains(count) { return .value(.newest(count)) }
                return .problems([
                    value.problem("\"\(name)\" must be \(wanted), found \(text)", code: "out-of-range")
                ])
            case .string(let text):
                return .problems([
                    value.problem(
                        "\"\(name)\" must be \(wanted), found \"\(text)\"", code: "unknown-choice",
                        suggestion: nearestName(to: text, in: ["all", "none"]))
                ])
            default:
                return .problems([
                    value.problem("\"\(name)\" must be \(wanted), found \(value.kindName)", code: "wrong-type")
                ])
            }
        }
    }

    private var text: String {
        switch self {
        case .all: "\"all\""
        case .none: "\"none\""
        case .newest(let count): String(count)
        }
    }
}
