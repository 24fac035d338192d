// feedbus: a stage that folds events into a state.

import Conditions
public import FeedbusPlugin

/// Folds events into a state, and gives each event the state that it led to as data. Rx: `scan`.
///
/// An event on which the expression fails is refused, and the state stays as it was. Where the expression gives nothing,
/// the event is left out and the state stays, too. The state is kept in memory: a restart begins anew.
public actor Scan: ChunkStage {
    public static let name = "Scan"
    public static let summary = "folds events into a state, and emits each new state"

    public nonisolated let context: PluginContext
    private let folding: Folding
    private var state: Bytes

    public init(options: ScanOptions, context: PluginContext) {
        guard let expression = options.jq else { preconditionFailure("a required option is there") }
        self.context = context
        folding = Folding(
            runner: JQRunner(expression, context: context, limit: options.limit), largest: options.largest)
        state = options.initial
    }

    public func process(_ events: Chunk<Event>) async throws -> Chunk<Event> {
        let result = try await folding.fold(events, from: state)
        state = result.state
        for (event, reason) in result.failures { try context.giveUp(on: event, reason: reason) }
        return Chunk(result.events)
    }
}
