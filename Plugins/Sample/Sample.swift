// feedbus: a stage that passes the newest event at fixed times.

public import FeedbusPlugin

public struct SampleOptions: PluginOptions {
    var every: Duration = .seconds(1)
    var emitLast = false

    public init() {}

    public static let options: [Option<SampleOptions>] = [
        .duration(
            "every", \.every, in: .milliseconds(1)...(.seconds(86_400)),
            help: "time from one look at the newest event to the next", example: "\"10s\""
        ).synonyms("time", "period", "interval"),
        .boolean(
            "emit_last", \.emitLast, help: "whether an event that waits when the input ends passes as well",
            example: "true"
        ),
    ]
}

/// Passes, at the end of each period, the newest event that has come in it; the others are left out. Rx: `sample`.
public actor Sample: Stage {
    public static let name = "Sample"
    public static let summary = "passes the newest event at the end of each period"

    public nonisolated let context: PluginContext
    private let options: SampleOptions

    public init(options: SampleOptions, context: PluginContext) {
        self.context = context
        self.options = options
    }

    public func transform(_ input: Flow<Event>) -> Flow<Event> {
        input.mapChunks { chunk in chunk.last.map { Chunk(one: $0.compacted()) } ?? Chunk() }
            .sample(every: options.every, clock: context.clock, emitLast: options.emitLast)
    }
}
