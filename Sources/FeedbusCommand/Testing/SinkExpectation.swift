// feedbus: the events that a sink is to get.

import FeedbusJSON
import FeedbusPlugin

/// How the events that a sink got are compared with those that were expected.
struct SinkExpectation: PluginOptions {
    enum Order: String, Sendable, CaseIterable { case exact, any }

    enum Events: Sendable {
        case file(String)
        case list([PositionedValue])
    }

    var events: Events?
    var order = Order.exact
    var ignore: [String]?
    var only: [String]?
    var count: Int?

    static let options: [Option<SinkExpectation>] = [
        .custom(
            "events", \.events, kind: .either([.string, .list(.object([]))]),
            help: "the events, as CloudEvents objects: a file of JSON lines, or a list", example: "\"expected.jsonl\"",
            show: { _ in nil },
            read: { value, _ in
                if let file = value.string, !file.isEmpty { return .value(.file(file)) }
                guard let elements = value.elements, elements.allSatisfy({ $0.members != nil }) else {
                    return .problems([
                        value.problem("\"events\" must be a file's path or a list of objects", code: "wrong-type")
                    ])
                }
                return .value(.list(elements))
            }),
        .choice("order", \.order, help: "whether they must come in this order"),
        .strings(
            "ignore", \.ignore, pattern: "a JSON pointer such as \"/time\"", accepts: { JSONPointer($0) != nil },
            help: "what is not compared", example: "[\"/time\", \"/data/created_at\"]"
        ).synonyms("except", "without"),
        .strings(
            "only", \.only, pattern: "a JSON pointer such as \"/id\"", accepts: { JSONPointer($0) != nil },
            help: "what is compared; without it, all", example: "[\"/id\", \"/type\"]"),
        .integer("count", \.count, in: 0...Int.max, help: "how many events come"),
    ]
}
