// feedbus: a stage that passes an event when it has been quiet for a while.

public import FeedbusPlugin

public struct DebounceOptions: PluginOptions {
    var time: Duration = .seconds(1)

    public init() {}

    public static let options: [Option<DebounceOptions>] = [
        .duration(
            "time", \.time, in: .milliseconds(1)...(.seconds(86_400)),
            help: "how long it must be quiet behind an event before it passes", example: "\"500ms\""
        ).synonyms("silence", "for", "wait", "quiet", "delay", "every")
    ]
}

/// Passes an event when none has come after it for a while; the others are left out. The last one passes at the end of
/// the input. Rx: `debounce`.
public actor Debounce: Stage {
    public static let name = "Debounce"
    public static let summary = "passes an event when none has come after it for a while"

    public nonisolated let context: PluginContext
    private let time: Duration

    public init(options: DebounceOptions, context: PluginContext) {
        self.context = context
        self.time = options.time
    }

    public func transform(_ input: Flow<Event>) -> Flow<Event> {
        // Of the events of one chunk, which came at once, only the last can pass.
        input.mapChunks { chunk in chunk.last.map { Chunk(one: $0.compacted()) } ?? Chunk() }
            .debounce(time, clock: context.clock)
    }
}
