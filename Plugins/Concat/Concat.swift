// feedbus: a stage that takes one node after the other.

public import FeedbusPlugin

public struct ConcatOptions: PluginOptions {
    public init() {}

    public static let options: [Option<ConcatOptions>] = []
}

/// All events of the first node in the `from`, then all of the second, and so on; each as it came. Rx: `concat`.
///
/// A later node waits meanwhile: its buffer fills, and then does what its policy says. With `block`, the default, its
/// source waits too.
public actor Concat: JoinStage {
    public static let name = "Concat"
    public static let summary = "all events of the first node, then all of the second, and so on"

    public static let readsInTurn = true

    public nonisolated let context: PluginContext

    public init(options: ConcatOptions, context: PluginContext) { self.context = context }

    public func transform(_ inputs: [StageInput]) -> Flow<Event> { .concat(inputs.map(\.events)) }
}
