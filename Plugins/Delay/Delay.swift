// feedbus: a stage that passes everything later.

public import FeedbusPlugin

public struct DelayOptions: PluginOptions {
    var by: Duration = .seconds(1)
    var hold = 10_000

    public init() {}

    public static let options: [Option<DelayOptions>] = [
        .duration(
            "by", \.by, in: .milliseconds(1)...(.seconds(86_400)), help: "how much later each event passes",
            example: "\"5m\""
        ).synonyms("time", "delay", "for", "duration"),
        .integer(
            "hold", \.hold, in: 1...10_000_000,
            help: "how many events may be on their way; more wait in front of the stage, and so come later",
            example: "100000"
        ).synonyms("buffer", "max", "limit", "events", "count"),
    ]
}

/// Passes everything later, the end of the input included. Rx: `delay`.
public actor Delay: Stage {
    public static let name = "Delay"
    public static let summary = "passes everything later"

    public nonisolated let context: PluginContext
    private let options: DelayOptions

    public init(options: DelayOptions, context: PluginContext) {
        self.context = context
        self.options = options
    }

    public func transform(_ input: Flow<Event>) -> Flow<Event> {
        input.delay(options.by, clock: context.clock, buffer: options.hold)
    }
}
