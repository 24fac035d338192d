// feedbus: ties a source's cursors to the receipts of its events, and saves them in order.

import FeedbusBase
import FeedbusLoop
import FeedbusPlugin
import FeedbusStore
import Synchronization

/// The cursors of one source: under way, ready, being saved.
///
/// Receipts settle on any thread; one task of the keeper saves, so that later values never overtake earlier ones.
final class CursorLedger: Sendable {
    private struct State: ~Copyable {
        var machine = CursorLedgerStateMachine()
        /// Ready to be saved, the newest value of a key last.
        var ready: [CursorUpdate] = []
        /// The keeper knows that there is something to save.
        var isSaving = false
        var gaveUp = false
        var idleWaiters: [CheckedContinuation<Void, Never>] = []

        var isIdle: Bool { machine.openCount == 0 && ready.isEmpty && !isSaving }
    }

    let node: String
    private let keeper: CursorKeeper
    /// The receipts are of events that a durable log keeps.
    private let isKept: Bool
    private let state = Mutex(State())

    init(node: String, keeper: CursorKeeper, isKept: Bool = false) {
        self.node = node
        self.keeper = keeper
        self.isKept = isKept
    }

    /// A receipt for the events of one emission; when its last copy has gone, the cursors are due.
    /// - Parameter place: the event's number in a durable log; 0 where there is none.
    func receipt(saving cursors: [CursorUpdate], place: Int64 = 0) -> Receipt {
        let number = state.withLock { $0.machine.emitted(cursors, place: place) }
        return Receipt(isKept: isKept) { [self] outcome in settled(number, outcome) }
    }

    private func settled(_ number: Int, _ outcome: Outcome) {
        let (start, waiters) = state.withLock { state in
            state.ready += state.machine.settled(number, outcome)
            let start = !state.ready.isEmpty && !state.isSaving
            if start { state.isSaving = true }
            return (start, Self.takeWaiters(&state))
        }
        if start { keeper.save(self) }
        for waiter in waiters { waiter.resume() }
    }

    private static func takeWaiters(_ state: inout State) -> [CheckedContinuation<Void, Never>] {
        guard state.isIdle || state.gaveUp else { return [] }
        defer { state.idleWaiters = [] }
        return state.idleWaiters
    }

    /// What is to be saved now, the newest value of each key.
    func takeReady() -> [CursorUpdate] {
        state.withLock { state in
            var latest: [CursorUpdate] = []
            for update in state.ready {
                latest.removeAll { $0.key == update.key }
                latest.append(update)
            }
            state.ready = []
            return latest
        }
    }

    /// What was taken is saved.
    /// - Returns: whether there is more by now.
    func saved() -> Bool {
        let (hasMore, waiters) = state.withLock { state in
            state.isSaving = !state.ready.isEmpty
            return (state.isSaving, Self.takeWaiters(&state))
        }
        for waiter in waiters { waiter.resume() }
        return hasMore
    }

    /// What was taken could not be saved.
    /// - Returns: whether it is to be tried again: not where the time for settling is over.
    func notSaved(_ batch: [CursorUpdate]) -> Bool {
        state.withLock { state in
            state.ready = batch + state.ready
            if state.gaveUp { state.isSaving = false }
            return !state.gaveUp
        }
    }

    /// Returns when every emission has settled and every ready cursor is saved, or after `giveUp`.
    func settle() async {
        await withCheckedContinuation { continuation in
            let now = state.withLock { state in
                if state.isIdle || state.gaveUp { return true }
                state.idleWaiters.append(continuation)
                return false
            }
            if now { continuation.resume() }
        }
    }

    /// The time for settling is over.
    /// - Returns: what is not as it should be.
    func giveUp() -> String? {
        let (reason, waiters) = state.withLock { state in
            let reason: String? =
                if state.machine.openCount > 0 {
                    "\(counted(state.machine.unsettledCount, "emission")) did not settle within the shutdown grace"
                } else if !state.isIdle {
                    "its cursor could not be saved within the shutdown grace; events may be repeated at the next start"
                } else {
                    nil
                }
            state.gaveUp = true
            return (reason, Self.takeWaiters(&state))
        }
        for waiter in waiters { waiter.resume() }
        return reason
    }

    /// An emission was not delivered: no later cursor will be saved.
    var isHeldBack: Bool { state.withLock { $0.machine.isHeldBack } }

    /// Events before a place in a durable log that were handed on and are not delivered.
    func undelivered(before place: Int64) -> Int { state.withLock { $0.machine.undelivered(before: place) } }

    /// Emissions that have not settled.
    var openCount: Int { state.withLock { $0.machine.openCount } }
}
