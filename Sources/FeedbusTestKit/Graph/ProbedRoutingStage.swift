// feedbus: a probe around a stage with several ways out.

import FeedbusBase
import FeedbusFlow
import FeedbusPlugin

/// Runs a routing stage and keeps the books of what goes in and what comes out by which route.
actor ProbedRoutingStage: RoutingStage {
    static let name = "ProbedRoutingStage"
    static let summary = "a stage inside a probe"
    static func routes(of options: NoOptions) -> [String] { [] }

    nonisolated let context: PluginContext
    private let inner: any RoutingStage
    private let node: String
    /// As other nodes name them.
    private let outputs: [String]
    private let life: SimulatedLife

    init(options: NoOptions, context: PluginContext) throws { throw FeedbusError.probeInConfig }

    init(inner: any RoutingStage, node: String, routes: [String], life: SimulatedLife, context: PluginContext) {
        self.inner = inner
        self.node = node
        outputs = DeliveryTally.outputs(of: node, routes: routes)
        self.life = life
        self.context = context
    }

    func route(_ events: Chunk<Event>) async throws -> [Chunk<Event>] {
        try await life.takeIn(events, node: node, clock: context.clock)
        do {
            let parts = try await inner.route(events)
            for (output, part) in zip(outputs, parts) where !part.isEmpty {
                life.note("pass \(output) [\(SimulatedLife.shown(part))]")
                life.tally.passed(output, part)
            }
            return parts
        } catch let end as StageFinished {
            life.note("end of \(node)")
            life.tally.isOver(node)
            throw end
        }
    }
}
