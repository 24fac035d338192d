// feedbus: a stage that joins the latest events of several nodes.

public import FeedbusPlugin
public import Joining

/// An event for each one that comes, with the latest of the other nodes, once each has had one. Rx: `combineLatest`.
///
/// The latest event of a node holds its source's cursor until it has gone out for the first time, and not after.
public actor CombineLatest: JoinStage {
    public static let name = "CombineLatest"
    public static let summary = "the latest events of all nodes together, whenever one of them emits"

    public nonisolated let context: PluginContext
    private let options: JoinOptions

    public static func check(_ options: JoinOptions, _ checking: OptionCheck) { JoinOptions.check(options, checking) }

    public init(options: JoinOptions, context: PluginContext) {
        self.context = context
        self.options = options
    }

    public func transform(_ inputs: [StageInput]) -> Flow<Event> {
        let combiner = EventCombiner(options, inputs: inputs.map(\.node))
        return Flow<HeldEvent>.combineLatest(inputs.map { $0.events.map { HeldEvent($0) } })
            .map { row in combiner.combine(row.map { $0.use() }) }
    }
}
