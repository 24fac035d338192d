// feedbus: a stage that ends after a number of events.

import FeedbusPlugin

public struct TakeOptions: PluginOptions {
    /// 1...
    var count = 1

    public init() {}

    public static let options: [Option<TakeOptions>] = [
        .integer(
            "count", \.count, in: 1...Int.max, help: "how many events to pass before the stage completes",
            example: "100"
        ).synonyms("n", "limit", "max", "events")
    ]
}

/// Passes the first events and then completes; what comes after them is left out. Rx: `take`.
public actor Take: Stage {
    public static let name = "Take"
    public static let summary = "passes the first events, then completes"

    public nonisolated let context: PluginContext
    private let count: Int

    public init(options: TakeOptions, context: PluginContext) {
        self.context = context
        self.count = options.count
    }

    public func transform(_ input: Flow<Event>) -> Flow<Event> {
        input.take(count)
    }
}
