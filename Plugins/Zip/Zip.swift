// feedbus: a stage that joins the events of several nodes by their number.

public import FeedbusPlugin
public import Joining

/// The n-th events of all nodes together. Rx: `zip`.
///
/// A node that is ahead waits in its own buffer; nothing is queued behind it.
public actor Zip: JoinStage {
    public static let name = "Zip"
    public static let summary = "the first events of all nodes together, then the second ones, and so on"

    public nonisolated let context: PluginContext
    private let options: JoinOptions

    public static func check(_ options: JoinOptions, _ checking: OptionCheck) { JoinOptions.check(options, checking) }

    public init(options: JoinOptions, context: PluginContext) {
        self.context = context
        self.options = options
    }

    public func transform(_ inputs: [StageInput]) -> Flow<Event> {
        let combiner = EventCombiner(options, inputs: inputs.map(\.node))
        return Flow<Event>.zip(inputs.map(\.events), buffer: 0).map { combiner.combine($0) }
    }
}
