// feedbus: the options that every source that polls over HTTP has.

public import FeedbusPlugin

/// The options that all polling sources share, declared once.
public protocol PollingOptions: PluginOptions {
    /// From the start of one poll to the start of the next.
    var every: Duration { get set }
    /// For a whole request.
    var timeout: Duration { get set }
    /// The most bytes of an answer, unpacked.
    var maxBody: Int { get set }
    /// 304 answers in a row before one request without validators.
    var revalidateAfter: Int { get set }
}

extension PollingOptions {
    /// `every`, `timeout`, `max_body` and `revalidate_after`.
    public static var pollingOptions: [Option<Self>] {
        [
            .duration(
                "every", \.every, in: .seconds(1)...Duration.seconds(7 * 86_400),
                help: "from the start of one poll to the start of the next; the service may ask for longer",
                example: "\"5m\""
            ).synonyms("interval", "intervall", "period", "poll_interval", "frequency"),
            .duration(
                "timeout", \.timeout, in: .seconds(1)...Duration.seconds(600),
                help: "for a whole request, body included"),
            .size(
                "max_body", \.maxBody, in: 1_024...(1 << 30), help: "the largest answer that is read, counted unpacked"
            ).synonyms("max_size", "limit_body"),
            .integer(
                "revalidate_after", \.revalidateAfter, in: 1...10_000,
                help: "\"nothing new\" answers in a row before one request without validators, in case they are stuck"),
        ]
    }
}
