// feedbus: a probe around a stage.

import FeedbusBase
import FeedbusFlow
import FeedbusPlugin

/// Runs a stage and keeps the books of what goes in and what comes out.
actor ProbedStage: Stage {
    static let name = "ProbedStage"
    static let summary = "a stage inside a probe"

    nonisolated let context: PluginContext
    private let inner: any Stage
    private let node: String
    private let life: SimulatedLife

    init(options: NoOptions, context: PluginContext) throws { throw FeedbusError.probeInConfig }

    init(inner: any Stage, node: String, life: SimulatedLife, context: PluginContext) {
        self.inner = inner
        self.node = node
        self.life = life
        self.context = context
    }

    func transform(_ input: Flow<Event>) async throws -> Flow<Event> {
        let (node, life, clock) = (node, life, context.clock)
        life.note("run \(node)")
        let entering = Flow<Event> { emit in
            try await input.collect { chunk in
                try await life.takeIn(chunk, node: node, clock: clock)
                try await emit(chunk)
            }
        }
        return life.lettingOut(try await inner.transform(entering), node: node)
    }
}
