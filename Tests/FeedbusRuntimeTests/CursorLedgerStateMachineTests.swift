// feedbus: in which order cursors may be saved.

import FeedbusPlugin
import Testing

@testable import FeedbusRuntime

struct CursorLedgerStateMachineTests {
    private func update(_ value: String) -> CursorUpdate { CursorUpdate("cursor", Bytes(value)) }
    private func values(_ updates: [CursorUpdate]) -> [String] { updates.compactMap { $0.value?.string } }

    @Test func cursorIsDueWhenItsEmissionAndAllEarlierOnesHaveSettled() {
        var ledger = CursorLedgerStateMachine()
        let first = ledger.emitted([update("1")])
        let second = ledger.emitted([update("2")])
        let third = ledger.emitted([update("3")])
        let afterSecond = values(ledger.settled(second, .delivered))
        #expect(afterSecond == [])
        let afterFirst = values(ledger.settled(first, .delivered))
        #expect(afterFirst == ["1", "2"])
        let afterThird = values(ledger.settled(third, .delivered))
        #expect(afterThird == ["3"])
        let open = ledger.openCount
        #expect(open == 0)
    }

    @Test(arguments: [Outcome.delivered, .dropped, .deadLettered])
    func everySettledOutcomeLetsTheCursorMove(outcome: Outcome) {
        var ledger = CursorLedgerStateMachine()
        let number = ledger.emitted([update("1")])
        let ready = values(ledger.settled(number, outcome))
        #expect(ready == ["1"])
    }

    @Test func anUndeliveredEmissionHoldsBackAllLaterCursors() {
        var ledger = CursorLedgerStateMachine()
        let first = ledger.emitted([update("1")])
        let second = ledger.emitted([update("2")])
        let third = ledger.emitted([update("3")])
        let afterThird = values(ledger.settled(third, .delivered))
        #expect(afterThird == [])
        let afterFirst = values(ledger.settled(first, .delivered))
        #expect(afterFirst == ["1"])
        let afterSecond = values(ledger.settled(second, .undelivered))
        #expect(afterSecond == [])
        let fourth = ledger.emitted([update("4")])
        let afterFourth = values(ledger.settled(fourth, .delivered))
        #expect(afterFourth == [])
        let heldBack = ledger.isHeldBack
        let open = ledger.openCount
        #expect(heldBack)
        #expect(open == 0)
    }
}
