// feedbus: tests of the saving of many sources' cursors.

import FeedbusBase
import FeedbusPlugin
import FeedbusTestKit
import Synchronization
import Testing

@testable import FeedbusRuntime

@Suite struct CursorKeeperTests {
    /// Lets emissions of these values settle at once.
    private func emit(_ values: Range<Int>, _ ledger: CursorLedger) {
        for value in values { _ = ledger.receipt(saving: [CursorUpdate("c", Bytes("\(value)"))]) }
    }

    @Test func whatIsReadyIsSavedTogether() throws {
        try Simulation.run { simulation in
            let journal = Journal()
            let keeper = CursorKeeper(
                log: .silent, clock: simulation.clock, host: SimulatedHost(simulation.loop)
            ) { saved in
                journal.note("\(saved.count)")
                try await simulation.clock.sleep(for: .seconds(1))
                for (node, cursors) in saved { journal.saved(node, cursors) }
            }
            let ledgers = (0..<600).map { CursorLedger(node: "n\($0)", keeper: keeper) }
            for ledger in ledgers { emit(0..<3, ledger) }
            // Comes while the others are being saved.
            try await simulation.clock.sleep(for: .milliseconds(500))
            emit(3..<5, ledgers[0])
            for ledger in ledgers { await ledger.settle() }
            // The newest value of each, never an older one after it, and so many nodes at a time.
            #expect(journal.saved == ["n0=2"] + (1..<600).map { "n\($0)=2" } + ["n0=4"])
            #expect(journal.lines == ["256", "256", "89"])
        }
    }

    @Test func whatCannotBeSavedIsTriedAgainUntilTheTimeIsOver() throws {
        try Simulation.run { simulation in
            let journal = Journal()
            let isBroken = Synchronization.Mutex(true)
            let keeper = CursorKeeper(
                log: Log { journal.log($0) }, clock: simulation.clock, host: SimulatedHost(simulation.loop)
            ) { saved in
                journal.note("try")
                if isBroken.withLock({ $0 }) { throw FeedbusError("disk.full", "no room") }
                for (node, cursors) in saved { journal.saved(node, cursors) }
            }
            let (one, other) = (CursorLedger(node: "one", keeper: keeper), CursorLedger(node: "other", keeper: keeper))
            emit(0..<1, one)
            emit(0..<1, other)
            try await simulation.clock.sleep(for: .seconds(2))
            // At 0, 0.25, 0.75 and 1.75 s; said once of each.
            #expect(journal.lines.count == 4)
            #expect(
                journal.logged
                    == ["one", "other"].map { "error \($0): the cursor cannot be saved: no room; trying again" })
            #expect(other.giveUp()?.contains("could not be saved") == true)
            try await simulation.clock.sleep(for: .seconds(2))
            #expect(
                journal.logged.last
                    == "error other: the cursor cannot be saved: no room; events may be repeated at the next start")
            isBroken.withLock { $0 = false }
            emit(1..<2, one)
            await one.settle()
            #expect(journal.saved == ["one=1"])
        }
    }
}
