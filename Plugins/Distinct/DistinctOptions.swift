// feedbus: what makes two events the same.

public import FeedbusPlugin

/// What is left out.
enum DistinctMode: String, CaseIterable, Sendable {
    /// An event whose key was met before.
    case id
    /// An event whose value is the one that its key had last.
    case change
}

/// How long a key is remembered.
enum DistinctReach: Sendable {
    case count(Int)
    case time(Duration)
}

public struct DistinctOptions: PluginOptions {
    var by: JSONPointer?
    var mode = DistinctMode.id
    var value: JSONPointer?
    var within: DistinctReach?
    var remember = 1_000_000

    public init() {}

    /// 40 to 56 bytes each.
    private static let counts = 1...100_000_000
    private static let times: ClosedRange<Duration> = .milliseconds(1)...(.seconds(365 * 86_400))

    public static let options: [Option<DistinctOptions>] = [
        .pointer(
            "by", \.by,
            help:
                "what makes two events the same; without it the event's id, and with \"change\" one key for all events"
        ).synonyms("key", "on", "field", "pointer"),
        .choice(
            "mode", \.mode,
            help:
                "leave out an event whose key was met before (id), or whose value is the last one of its key (change)",
            example: "\"change\""),
        .pointer("value", \.value, help: "with \"change\": what is compared; without it all of the data"),
        .custom(
            "within", \.within, kind: .either([.integer(counts), .duration(times)]),
            help: "how many keys are remembered, or for how long each; without it as many as \"remember\" says",
            example: "\"1h\"", show: { _ in nil }, read: { value, _ in readReach(value) }
        ).synonyms("window", "time", "for", "ttl", "count"),
        .integer(
            "remember", \.remember, in: counts,
            help: "keys remembered at most, some 50 bytes each; the oldest is forgotten first", example: "10000"
        ).synonyms("limit", "max", "cache", "size"),
    ]

    private static func readReach(_ value: PositionedValue) -> OptionReading<DistinctReach?> {
        let wanted = "a whole number from 1 to \(counts.upperBound), or a duration such as \"1h\""
        func problem(_ found: String, _ code: String) -> OptionReading<DistinctReach?> {
            .problems([value.problem("\"within\" must be \(wanted), found \(found)", code: code)])
        }
        switch value.content {
        case .number(let text):
            guard let count = Int(text), counts.contains(count) else { return problem(text, "out-of-range") }
            return .value(.count(count))
        case .string(let text):
            guard let time = Duration(text: text) else { return problem("\"\(text)\"", "not-a-duration") }
            guard times.contains(time) else { return problem("\"\(text)\"", "out-of-range") }
            return .value(.time(time))
        default: return problem(value.kindName, "wrong-type")
        }
    }
}
