// feedbus: tells the events that a stage let go from those that it lost when it failed.

import FeedbusBase
import FeedbusFlow
import FeedbusLoop
import FeedbusPlugin
import Synchronization

/// Stands between the receipts of a stage's input and the stage.
///
/// Inside the stage an event carries a stand-in for its receipt. When the last copy of a stand-in goes, the stage has let
/// the event go: it left it out, or handed it on. Or it has just failed, and the unwinding released the event a moment
/// before the error arrives here. So the real receipt is kept a little longer, until the error would have come.
final class StageReceipts: Sendable {
    private enum Phase { case running, completed, failed, interrupted }

    /// A run of events with one receipt.
    private struct Entered {
        var number: Int
        var receipt: Receipt
        var count: Int
        /// Empty where they are too many to keep.
        var events: Chunk<Event>
        /// Some of the events have not left the stage.
        var isOpen = true
    }

    /// What a failure lost.
    struct Lost {
        /// With their own receipts, in the order in which they came.
        var events: Chunk<Event>
        /// Others, which were let go a moment before in great number; they are reported as undelivered.
        var others: Int
    }

    /// Of events that a stage has let go only so many of the last are kept for the moment in which an error may come.
    private static let releasedLimit = 1_024

    private struct State {
        var phase = Phase.running
        /// Events whose stand-in has gone, with their own receipts, in the order of going.
        var released: [Entered] = []
        /// How many of the last ones still have their events.
        var releasedEvents = 0
        /// Those before this index have only their receipt left.
        var firstWithEvents = 0
        /// Lets them go after the pause.
        var wait: Task<Void, any Error>?
        /// Events whose stand-in is alive.
        var inside: [Int: Entered] = [:]
        var lastNumber = 0
    }

    /// How long an error may take from where it is thrown to the runner, on a busy loop.
    private static let patience: Duration = .milliseconds(20)

    private let clock: any EventClock
    private let host: any LoopHost
    private let state = Mutex(State())

    init(clock: any EventClock, host: any LoopHost) {
        self.clock = clock
        self.host = host
    }

    /// The chunk with stand-ins, one for each run of events with the same receipt.
    func entering(_ chunk: Chunk<Event>) -> Chunk<Event> {
        var events = Array(chunk)
        var start = 0
        while start < events.count {
            guard let receipt = events[start].receipt else {
                start += 1
                continue
            }
            var end = start + 1
            while end < events.count, events[end].receipt === receipt { end += 1 }
            let standIn = self.standIn(for: receipt, chunk.dropFirst(start).prefix(end - start))
            for index in start..<end { events[index].receipt = standIn }
            start = end
        }
        return Chunk(events)
    }

    private func standIn(for receipt: Receipt, _ events: Chunk<Event>) -> Receipt {
        let number = state.withLock { state in
            state.lastNumber += 1
            state.inside[state.lastNumber] = Entered(
                number: state.lastNumber, receipt: receipt, count: events.count, events: events)
            return state.lastNumber
        }
        return Receipt(standingFor: receipt) { [self, receipt] outcome, handedOn in
            if outcome != .delivered { receipt.report(outcome) }
            release(number, handedOn: handedOn)
        }
    }

    /// The chunk with the real receipts again.
    func leaving(_ chunk: Chunk<Event>) -> Chunk<Event> {
        Chunk(
            chunk.map { event in
                var event = event
                event.receipt?.markHandedOn()
                event.receipt = event.receipt?.real
                return event
            })
    }

    private func release(_ number: Int, handedOn: Int) {
        // Freed outside the lock: a receipt that settles calls out.
        let (gone, start): (Entered?, Bool) = state.withLock { state in
            // After a failure it is not there any more: `failed()` has taken it.
            guard var entered = state.inside.removeValue(forKey: number) else { return (nil, false) }
            entered.isOpen = handedOn < entered.count
            switch state.phase {
            case .completed, .failed: return (entered, false)
            case .interrupted:
                if entered.isOpen { entered.receipt.report(.undelivered) }
                return (entered, false)
            case .running: break
            }
            state.released.append(entered)
            state.releasedEvents += entered.count
            while state.releasedEvents > Self.releasedLimit, state.firstWithEvents < state.released.count - 1 {
                state.releasedEvents -= state.released[state.firstWithEvents].count
                state.released[state.firstWithEvents].events = Chunk()
                state.firstWithEvents += 1
            }
            return (nil, state.wait == nil)
        }
        _ = consume gone
        guard start else { return }
        let wait = host.task { [self] in
            try await clock.sleep(for: Self.patience)
            letGo()
        }
        let isLate = state.withLock { state in
            state.wait = wait
            return state.phase != .running
        }
        if isLate { wait.cancel() }
    }

    private func letGo() {
        // Freed outside the lock: a receipt that settles calls out.
        _ = state.withLock { state in
            defer {
                state.released = []
                state.releasedEvents = 0
                state.firstWithEvents = 0
                state.wait = nil
            }
            return state.released
        }
    }

    /// The stage has come to its end: all that it took in is settled by it.
    func completed() {
        let wait = state.withLock { state in
            state.phase = .completed
            return state.wait
        }
        wait?.cancel()
        letGo()
    }

    /// The stage has failed: what it held, and what went in the moment before, is for the caller to settle.
    func failed() -> Lost {
        let (entered, wait) = state.withLock { state in
            state.phase = .failed
            defer {
                state.released = []
                state.inside = [:]
            }
            return ((state.released + state.inside.values).sorted { $0.number < $1.number }, state.wait)
        }
        wait?.cancel()
        var lost = Lost(events: Chunk(entered.flatMap(\.events)), others: 0)
        for one in entered where one.events.isEmpty {
            one.receipt.report(.undelivered)
            lost.others += one.count
        }
        return lost
    }

    /// The input has ended because the program stops, and not because no more will ever come: what has not left the stage
    /// (or has been left out in the moment before, which cannot be told from it) is to come again.
    /// - Returns: how many events that are at most.
    func interrupted() -> Int {
        let (released, inside, wait) = state.withLock { state in
            state.phase = .interrupted
            defer { state.released = [] }
            return (state.released, state.inside.values.reduce(0) { $0 + $1.count }, state.wait)
        }
        wait?.cancel()
        let open = released.filter(\.isOpen)
        for one in open { one.receipt.report(.undelivered) }
        return open.reduce(inside) { $0 + $1.count }
    }
}
