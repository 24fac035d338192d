// feedbus: a stage that passes at most one event in a span of time.

public import FeedbusPlugin

/// Which events of a span pass.
enum ThrottleEdge: String, CaseIterable, Sendable {
    /// The first, at once.
    case leading
    /// The newest, when the span is over.
    case trailing
    case both
}

public struct ThrottleOptions: PluginOptions {
    var time: Duration = .seconds(1)
    var edge = ThrottleEdge.leading

    public init() {}

    public static let options: [Option<ThrottleOptions>] = [
        .duration(
            "time", \.time, in: .milliseconds(1)...(.seconds(86_400)),
            help: "the span in which at most one event passes; it begins with the event that passes", example: "\"10s\""
        ).synonyms("span", "every", "per", "period", "interval"),
        .choice(
            "edge", \.edge,
            help: "which events pass: the first of a span at once, the newest when the span is over, or both",
            example: "\"both\""),
    ]
}

/// Passes at most one event in a span of time; the others are left out. Rx: `throttle`, `throttleFirst`,
/// `throttleLatest`.
public actor Throttle: Stage {
    public static let name = "Throttle"
    public static let summary = "passes at most one event in a span of time"

    public nonisolated let context: PluginContext
    private let options: ThrottleOptions

    public init(options: ThrottleOptions, context: PluginContext) {
        self.context = context
        self.options = options
    }

    public func transform(_ input: Flow<Event>) -> Flow<Event> {
        // Of the events of one chunk, which came at once, only the first and the last can pass.
        input.mapChunks { chunk in
            guard let first = chunk.first, let last = chunk.last else { return chunk }
            return chunk.count == 1 ? Chunk(one: last.compacted()) : Chunk([first, last.compacted()])
        }
        .throttle(
            options.time, clock: context.clock, latest: options.edge != .leading, leading: options.edge != .trailing)
    }
}
