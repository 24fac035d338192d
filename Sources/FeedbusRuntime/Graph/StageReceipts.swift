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

    private struct Released {
        var receipt: Receipt
        var count: Int
        /// Some of the events have not left the stage.
        var isOpen: Bool
    }

    private struct State {
        var phase = Phase.running
        /// Receipts whose stand-in has gone, with the number of their events.
        var released: [Released] = []
        /// Lets them go after the pause.
        var wait: Task<Void, any Error>?
        /// Events whose stand-in is alive.
        var inside = 0
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
            let standIn = self.standIn(for: receipt, count: end - start)
            for index in start..<end { events[index].receipt = standIn }
            start = end
        }
        return Chunk(events)
    }

    private func standIn(for receipt: Receipt, count: Int) -> Receipt {
        state.withLock { $0.inside += count }
        return Receipt(standingFor: receipt) { [self, receipt] outcome, handedOn in
            if outcome != .delivered { receipt.report(outcome) }
            release(Released(receipt: receipt, count: count, isOpen: handedOn < count))
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

    private func release(_ released: Released) {
        let start = state.withLock { state in
            state.inside -= released.count
            switch state.phase {
            case .completed: return false
            case .failed:
                released.receipt.report(.undelivered)
                return false
            case .interrupted:
                if released.isOpen { released.receipt.report(.undelivered) }
                return false
            case .running:
                state.released.append(released)
                return state.wait == nil
            }
        }
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

    /// The stage has failed: what it held, and what went in the moment before, is not delivered.
    /// - Returns: how many events that are at most.
    func failed() -> Int {
        let (released, inside, wait) = state.withLock { state in
            state.phase = .failed
            defer { state.released = [] }
            return (state.released, state.inside, state.wait)
        }
        wait?.cancel()
        for released in released { released.receipt.report(.undelivered) }
        return released.reduce(inside) { $0 + $1.count }
    }

    /// The input has ended because the program stops, and not because no more will ever come: what has not left the stage
    /// (or has been left out in the moment before, which cannot be told from it) is to come again.
    /// - Returns: how many events that are at most.
    func interrupted() -> Int {
        let (released, inside, wait) = state.withLock { state in
            state.phase = .interrupted
            defer { state.released = [] }
            return (state.released, state.inside, state.wait)
        }
        wait?.cancel()
        let open = released.filter(\.isOpen)
        for released in open { released.receipt.report(.undelivered) }
        return open.reduce(inside) { $0 + $1.count }
    }
}
