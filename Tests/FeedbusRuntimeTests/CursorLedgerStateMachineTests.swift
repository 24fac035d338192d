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

    @Test func whatIsNotDeliveredBeforeAPlaceIsCountedAlsoBehindOneThatHoldsBack() {
        var ledger = CursorLedgerStateMachine()
        var numbers: [Int] = []
        for place in [10, 11, 12, 13, 20, 21] as [Int64] {
            numbers.append(ledger.emitted([update("\(place)")], place: place))
        }
        for (at, outcome) in [(1, .undelivered), (2, .dropped), (4, .undelivered), (0, .delivered)] as [(Int, Outcome)]
        {
            _ = ledger.settled(numbers[at], outcome)
        }
        // 11 and 20 were left, 13 and 21 have not settled.
        let counts = ([10, 11, 12, 13, 14, 20, 21, 22] as [Int64]).map { ledger.undelivered(before: $0) }
        #expect(counts == [0, 0, 1, 1, 2, 2, 3, 4])
        for at in [3, 5] { _ = ledger.settled(numbers[at], .delivered) }
        let left = ledger.undelivered(before: .max)
        #expect(left == 2)
        // Of a source, whose events have no place.
        let other = ledger.emitted([update("22")])
        _ = ledger.settled(other, .undelivered)
        let still = ledger.undelivered(before: .max)
        #expect(still == 2)
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
