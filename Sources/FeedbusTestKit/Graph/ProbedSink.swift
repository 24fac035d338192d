// feedbus: a probe around a sink, or in the place of one.

import FeedbusBase
import FeedbusFlow
import FeedbusPlugin

/// Remembers what was written. Without a sink inside it takes everything.
actor ProbedSink: Sink {
    static let name = "ProbedSink"
    static let summary = "a sink inside a probe"

    nonisolated let context: PluginContext
    private let inner: (any Sink)?
    private let node: String
    private let life: SimulatedLife

    init(options: NoOptions, context: PluginContext) throws { throw FeedbusError.probeInConfig }

    init(inner: (any Sink)?, node: String, life: SimulatedLife, context: PluginContext) {
        self.inner = inner
        self.node = node
        self.life = life
        self.context = context
    }

    func open() async throws {
        try life.checkAlive()
        life.note("open \(node)")
        try await watched { try await inner?.open() }
    }

    func write(_ events: Chunk<Event>) async throws {
        try life.checkAlive()
        life.note("write \(node) [\(SimulatedLife.shown(events))]")
        try await context.clock.sleep(for: life.pause(upTo: life.faults.writeDelay))
        try life.checkAlive()
        if life.chance(life.faults.writeFails) {
            life.note("fault \(node) fails to write")
            throw FeedbusError.fault("the sink \(node) fails")
        }
        if life.chance(life.faults.writeFailsForGood) {
            life.note("fault \(node) fails to write, for good")
            throw FeedbusError.fault("the sink \(node) fails for good", isRetriable: false)
        }
        try await watched { try await inner?.write(events) }
        try life.checkAlive()
        life.note("written \(node) [\(SimulatedLife.shown(events))] \(SimulatedLife.checksum(events))")
        life.tally.took(node, events)
        let time = Duration.nanoseconds(life.clock.now.nanoseconds)
        for event in events {
            // With its receipt, what is remembered would keep its source waiting.
            var event = event
            event.receipt = nil
            life.world.delivered(node, SimulationResult.Delivery(event: event, time: time, life: life.number))
        }
    }

    func reopen() async throws {
        try life.checkAlive()
        try await watched { try await inner?.reopen() }
    }

    func close() async throws {
        try life.checkAlive()
        life.note("close \(node)")
        try await watched { try await inner?.close() }
    }

    private func watched(_ call: () async throws -> Void) async throws {
        do { try await call() } catch let end as SinkFinished {
            life.note("end of \(node): \(end.reason)")
            life.tally.isOver(node)
            throw end
        }
    }
}
