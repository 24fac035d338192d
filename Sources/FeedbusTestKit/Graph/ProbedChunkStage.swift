// feedbus: a probe around a stage that treats each chunk on its own.

import FeedbusBase
import FeedbusFlow
import FeedbusPlugin

/// Runs a chunk stage and keeps the books of what goes in and what comes out.
actor ProbedChunkStage: ChunkStage {
    static let name = "ProbedChunkStage"
    static let summary = "a stage inside a probe"

    nonisolated let context: PluginContext
    private let inner: any ChunkStage
    private let node: String
    private let life: SimulatedLife

    init(options: NoOptions, context: PluginContext) throws { throw FeedbusError.probeInConfig }

    init(inner: any ChunkStage, node: String, life: SimulatedLife, context: PluginContext) {
        self.inner = inner
        self.node = node
        self.life = life
        self.context = context
    }

    func process(_ events: Chunk<Event>) async throws -> Chunk<Event> {
        // Of several workers' chunks, the first one in is the first one out.
        let ticket = life.tally.ticket(node)
        do {
            try await life.takeIn(events, node: node, clock: context.clock)
            let leaving = try await inner.process(events)
            pass(leaving, ticket)
            return leaving
        } catch let end as StageFinished {
            pass(end.last, ticket)
            life.note("end of \(node)")
            life.tally.isOver(node)
            throw end
        } catch {
            pass([], ticket)
            throw error
        }
    }

    private func pass(_ events: Chunk<Event>, _ ticket: Int) {
        if !events.isEmpty { life.note("pass \(node) [\(SimulatedLife.shown(events))]") }
        life.tally.passed(node, events, ticket: ticket)
    }
}
