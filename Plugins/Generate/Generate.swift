// feedbus: a source of made-up events, for trials and measurements.

import FeedbusPlugin

/// Emits events that follow from a seed. It remembers nothing: each start begins anew.
public actor Generate: Source {
    public static let name = "Generate"
    public static let summary = "makes up events, for trials and measurements"

    public nonisolated let context: PluginContext
    private let options: GenerateOptions

    /// Events of a chunk where no rate says otherwise, and bytes of one.
    private static let mostEvents = 512
    private static let mostBytes = 1 << 20
    /// With a rate: how often events are due.
    private static let tick = Duration.milliseconds(1)
    /// Without an end of its own, a run with `--once` still has one.
    private static let onceCount = 1_000

    public init(options: GenerateOptions, context: PluginContext) {
        self.context = context
        self.options = options
    }

    public func run(_ output: Output) async throws {
        var maker = EventMaker(size: options.size, seed: options.seed, node: context.node)
        let count = options.count ?? (context.mode.once ? Generate.onceCount : .max)
        let most = max(1, min(Generate.mostEvents, Generate.mostBytes / options.size))
        let start = context.clock.now
        while maker.made < count {
            try Task.checkCancellation()
            var wanted = min(most, count - maker.made)
            if let rate = options.rate {
                let due = try await due(after: maker.made, rate: rate, since: start)
                wanted = min(wanted, due)
            }
            try await output.emit(maker.next(wanted))
        }
    }

    /// Suspends until the next event is due.
    /// - Returns: how many are due then, at least one.
    private func due(after made: Int, rate: Int, since start: Instant) async throws -> Int {
        while true {
            let elapsed = (context.clock.now - start).nanoseconds
            // The first one is due at once.
            let (seconds, rest) = elapsed.quotientAndRemainder(dividingBy: 1_000_000_000)
            let total = Int(seconds) * rate + Int(rest) * rate / 1_000_000_000 + 1
            if total > made { return total - made }
            let next = Duration.nanoseconds((Int64(made) * 1_000_000_000 + Int64(rate) - 1) / Int64(rate))
            try await context.clock.sleep(until: start + max(next, .nanoseconds(elapsed) + Generate.tick))
        }
    }
}
