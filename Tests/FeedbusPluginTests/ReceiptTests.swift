// feedbus: a receipt settles once, with the worst outcome, when the last copy of its events has gone.

import Synchronization
import Testing

@testable import FeedbusPlugin

struct ReceiptTests {
    private final class Probe: Sendable {
        let outcomes = Synchronization.Mutex<[Outcome]>([])
        func receipt() -> Receipt { Receipt { outcome in self.outcomes.withLock { $0.append(outcome) } } }
        var seen: [Outcome] { outcomes.withLock { $0 } }
    }

    private func event(_ receipt: Receipt) -> Event {
        let origin = EventOrigin(source: "/test", type: "test", node: "test")
        var event = Event(origin: origin, id: "1", data: "{}")
        event.receipt = receipt
        return event
    }

    @Test func settlesWhenTheLastCopyHasGone() {
        let probe = Probe()
        var copies = [event(probe.receipt())]
        copies.append(copies[0])
        copies.removeFirst()
        #expect(probe.seen == [])
        copies.removeAll()
        #expect(probe.seen == [.delivered])
    }

    @Test func theWorstOutcomeOfAllCopiesWins() {
        let probe = Probe()
        do {
            let receipt = probe.receipt()
            let copies = [event(receipt), event(receipt)]
            copies[0].receipt?.report(.undelivered)
            copies[1].receipt?.report(.dropped)
        }
        #expect(probe.seen == [.undelivered])
    }

    @Test func aDetachedCopyHoldsNothingBack() {
        let probe = Probe()
        var kept: Event?
        do { kept = event(probe.receipt()).detached() }
        #expect(probe.seen == [.delivered])
        #expect(kept?.id.string == "1")
    }

    @Test func detachingLeavesALargeBufferBehind() {
        let page = Bytes(String(repeating: "x", count: 100_000))
        let origin = EventOrigin(source: "/test", type: "test", node: "test")
        let event = Event(origin: origin, id: page[0..<3], data: page[10..<20])
        let detached = event.detached()
        #expect(detached.data == event.data)
        #expect(detached.data.buffer.count == 10)
        #expect(detached.id.buffer.count == 3)
    }
}
