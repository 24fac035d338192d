// feedbus: a stage that adds to each event the latest of other nodes.

public import FeedbusPlugin
public import Joining

/// Each event of the first node, with the latest of the others, once each has had one. Rx: `withLatestFrom`.
///
/// The latest event of a node holds its source's cursor until it has gone out for the first time, and not after.
public actor WithLatestFrom: JoinStage {
    public static let name = "WithLatestFrom"
    public static let summary = "each event of the first node, with the latest of the others"

    public nonisolated let context: PluginContext
    private let options: JoinOptions

    public static func check(_ options: JoinOptions, _ checking: OptionCheck) { JoinOptions.check(options, checking) }

    public init(options: JoinOptions, context: PluginContext) {
        self.context = context
        self.options = options
    }

    public func transform(_ inputs: [StageInput]) -> Flow<Event> {
        let combiner = EventCombiner(options, inputs: inputs.map(\.node))
        let others = inputs.dropFirst().map { Self.latest(of: $0.events) }
        let latest: Flow<[HeldEvent]> =
            others.count == 1 ? others[0].map { [$0] } : Flow<HeldEvent>.combineLatest(others)
        return inputs[0].events.withLatestFrom(latest)
            .map { event, latest in combiner.combine([event] + latest.map { $0.use() }) }
    }

    /// Of each chunk the last event: the others could not be the latest for anybody.
    private static func latest(of events: Flow<Event>) -> Flow<HeldEvent> {
        Flow { emit in
            try await events.collect { chunk in
                if let last = chunk.last { try await emit(Chunk(one: HeldEvent(last))) }
            }
        }
    }
}
