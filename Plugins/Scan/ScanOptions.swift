// feedbus: how the state of a scan goes on.

import Conditions
public import FeedbusPlugin

public struct ScanOptions: PluginOptions {
    var jq: JQExpression?
    /// JSON text.
    var initial: Bytes = "null"
    var largest = 1 << 20
    var limit: Duration = .seconds(5)

    public init() {}

    public static let options: [Option<ScanOptions>] = [
        .jq(
            "jq", \.jq, required: true,
            help: "makes the new state of { \"state\": the one before, \"event\": the event's data }",
            example: "\".state + 1\""
        ).synonyms("expression", "step", "reduce", "fold"),
        .custom(
            "initial", \.initial, kind: .json(nil, "any JSON"), help: "the state before the first event", example: "0",
            show: { $0.string }, read: { value, _ in .value(Bytes(text(of: value))) }
        ).synonyms("state", "seed", "start", "init"),
        .size(
            "max_state", \.largest, in: 1_024...(64 << 20),
            help: "an event that would make the state larger is refused", example: "\"64KiB\""),
        .timeLimit(\.limit),
    ]

    /// A value of a config as compact JSON text.
    private static func text(of value: PositionedValue) -> String {
        switch value.content {
        case .null: "null"
        case .bool(let flag): "\(flag)"
        case .number(let text): text
        case .string(let text): JSON.quote(text).string
        case .array(let elements): "[" + elements.map { text(of: $0) }.joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { "\(JSON.quote($0.key).string):\(text(of: $0.value))" }.joined(separator: ",") + "}"
        }
    }
}
