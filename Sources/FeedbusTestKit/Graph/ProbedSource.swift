// feedbus: a probe around a source.

import FeedbusBase
import FeedbusFlow
import FeedbusPlugin

/// Runs a source and keeps the books of what it emits.
actor ProbedSource: Source {
    static let name = "ProbedSource"
    static let summary = "a source inside a probe"

    nonisolated let context: PluginContext
    private let inner: any Source
    private let node: String
    private let life: SimulatedLife

    init(options: NoOptions, context: PluginContext) throws { throw FeedbusError.probeInConfig }

    init(inner: any Source, node: String, life: SimulatedLife, context: PluginContext) {
        self.inner = inner
        self.node = node
        self.life = life
        self.context = context
    }

    func run(_ output: Output) async throws {
        let (node, life) = (node, life)
        life.note("run \(node)")
        try await inner.run(
            Output { events, cursors in
                guard try self.notes(events, cursors) else { return }
                try await output.emit(events, saving: cursors)
            } packed: { events, cursors in
                guard try self.notes(Chunk(events).array, cursors) else { return }
                try await output.emit(packed: events, saving: cursors)
            })
        life.note("end of \(node)")
    }

    /// - Returns: whether it goes on.
    private nonisolated func notes(_ events: [Event], _ cursors: [CursorUpdate]) throws -> Bool {
        try life.checkAlive()
        // The plain ways out of the runtime: an emission of nothing is none.
        guard !events.isEmpty || !cursors.isEmpty else { return false }
        if life.chance(life.faults.sourceFails) {
            life.note("fault \(node) fails before an emission")
            throw FeedbusError.fault("the source \(node) fails")
        }
        life.note("emit \(node) [\(SimulatedLife.shown(events))] saving [\(cursors.map(\.key).joined(separator: " "))]")
        life.tally.emitted(node, events, cursors)
        return true
    }
}
