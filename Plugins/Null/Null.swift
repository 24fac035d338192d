// feedbus: a sink that throws its events away.

import FeedbusPlugin

public struct NullOptions: PluginOptions {
    public init() {}
    public static let options: [Option<NullOptions>] = []
}

/// Takes every event and keeps none: to measure, and to let a source run for its own sake.
public actor Null: Sink {
    public static let name = "Null"
    public static let summary = "throws its events away and counts them"

    public nonisolated let context: PluginContext
    private var count = 0

    public init(options: NullOptions, context: PluginContext) {
        self.context = context
    }

    public func write(_ events: Chunk<Event>) {
        count += events.count
    }

    public func close() {
        context.log.info("threw away \(count) event\(count == 1 ? "" : "s")")
    }
}
