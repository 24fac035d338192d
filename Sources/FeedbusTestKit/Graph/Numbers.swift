// feedbus: a source for tests: counts, remembers how far it has come, and goes on there after a restart.

public import FeedbusPlugin

public struct NumbersOptions: PluginOptions {
    /// 0...
    var count = 100
    /// 1...
    var batch = 1
    var every: Duration = .zero

    public init() {}

    public static let options: [Option<NumbersOptions>] = [
        .integer("count", \.count, in: 0...1_000_000, help: "how many events to emit in all", example: "100"),
        .integer("batch", \.batch, in: 1...100_000, help: "events that are emitted together", example: "10"),
        .duration(
            "every", \.every, in: .zero...Duration.seconds(86_400), help: "the pause between emissions",
            example: "\"1s\""),
    ]
}

/// Emits events with the ids and data 1, 2, 3 …, and saves as its cursor the last one of each emission.
public actor Numbers: Source {
    public static let name = "Numbers"
    public static let summary = "counts, for tests"

    public nonisolated let context: PluginContext
    private let options: NumbersOptions

    public init(options: NumbersOptions, context: PluginContext) {
        self.context = context
        self.options = options
    }

    public func run(_ output: Output) async throws {
        let origin = EventOrigin(source: "/numbers", type: "feedbus.test.number", node: context.node)
        var last = try await context.cursor().flatMap { Int($0.string) } ?? 0
        while last < options.count {
            try Task.checkCancellation()
            let numbers = (last + 1)...min(last + options.batch, options.count)
            let events = numbers.map { Event(origin: origin, id: Bytes(String($0)), data: Bytes(String($0))) }
            try await output.emit(events, saving: [CursorUpdate("cursor", Bytes(String(numbers.upperBound)))])
            last = numbers.upperBound
            try await context.clock.sleep(for: options.every)
        }
    }
}
