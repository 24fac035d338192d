// feedbus: a probe around a stage that joins.

import FeedbusBase
import FeedbusFlow
import FeedbusPlugin

/// Runs a joining stage and keeps the books of what goes in, by input, and what comes out.
actor ProbedJoinStage: JoinStage {
    static let name = "ProbedJoinStage"
    static let summary = "a stage inside a probe"

    nonisolated let context: PluginContext
    private let inner: any JoinStage
    private let node: String
    private let life: SimulatedLife

    init(options: NoOptions, context: PluginContext) throws { throw FeedbusError.probeInConfig }

    init(inner: any JoinStage, node: String, life: SimulatedLife, context: PluginContext) {
        self.inner = inner
        self.node = node
        self.life = life
        self.context = context
    }

    func transform(_ inputs: [StageInput]) async throws -> Flow<Event> {
        let (node, life, clock) = (node, life, context.clock)
        life.note("run \(node)")
        let entering = inputs.enumerated().map { index, input in
            StageInput(
                node: input.node,
                events: Flow { emit in
                    try await input.events.collect { chunk in
                        try await life.takeIn(chunk, node: node, input: index, clock: clock)
                        try await emit(chunk)
                    }
                })
        }
        return life.lettingOut(try await inner.transform(entering), node: node)
    }
}
