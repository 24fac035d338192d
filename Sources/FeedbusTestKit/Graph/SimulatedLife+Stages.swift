// feedbus: what the probes around stages have in common.

import FeedbusBase
import FeedbusFlow
import FeedbusPlugin

extension SimulatedLife {
    /// A stage takes a chunk in: books, delay, fault.
    func takeIn(
        _ chunk: Chunk<Event>, node: String, input: Int = 0, clock: any EventClock
    ) async throws {
        try checkAlive()
        note("take \(node) [\(Self.shown(chunk))]")
        tally.took(node, input: input, chunk)
        try await clock.sleep(for: pause(upTo: faults.stageDelay))
        if chance(faults.stageFails) {
            note("fault \(node) fails on a chunk")
            throw FeedbusError.fault("the stage \(node) fails")
        }
    }

    /// The flow that leaves a stage, with its books.
    func lettingOut(_ leaving: Flow<Event>, node: String) -> Flow<Event> {
        Flow { emit in
            try await leaving.collect { chunk in
                try self.checkAlive()
                self.note("pass \(node) [\(Self.shown(chunk))]")
                self.tally.passed(node, chunk)
                try await emit(chunk)
            }
            self.note("end of \(node)")
            self.tally.isOver(node)
        }
    }
}
