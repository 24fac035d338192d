// feedbus: ties a source's cursors to the receipts of its events, and saves them in order.

import FeedbusBase
import FeedbusLoop
import FeedbusPlugin
import FeedbusStore
import Synchronization

/// The cursors of one source: under way, ready, being saved.
///
/// Receipts settle on any thread; saving runs in one task at a time, so that later values never overtake earlier ones.
final class CursorLedger: Sendable {
    private struct State: ~Copyable {
        var machine = CursorLedgerStateMachine()
        /// Ready to be saved, the newest value of a key last.
        var ready: [CursorUpdate] = []
        var isSaving = false
        var gaveUp = false
        var idleWaiters: [CheckedContinuation<Void, Never>] = []

        var isIdle: Bool { machine.openCount == 0 && ready.isEmpty && !isSaving }
    }

    /// What the ledgers of many sources have in common.
    final class Keeper: Sendable {
        let log: Log
        let clock: any EventClock
        let host: any LoopHost
        let save: @Sendable (_ node: String, [CursorUpdate]) async throws -> Void

        init(
            log: Log, clock: any EventClock, host: any LoopHost,
            save: @escaping @Sendable (_ node: String, [CursorUpdate]) async throws -> Void
        ) {
            self.log = log
            self.clock = clock
            self.host = host
            self.save = save
        }
    }

    let node: String
    private let keeper: Keeper
    /// The receipts are of events that a durable log keeps.
    private let isKept: Bool
    private let state = Mutex(State())

    init(node: String, keeper: Keeper, isKept: Bool = false) {
        self.node = node
        self.keeper = keeper
        self.isKept = isKept
    }

    /// A receipt for the events of one emission; when its last copy has gone, the cursors are due.
    func receipt(saving cursors: [CursorUpdate]) -> Receipt {
        let number = state.withLock { $0.machine.emitted(cursors) }
        return Receipt(isKept: isKept) { [self] outcome in settled(number, outcome) }
    }

    private func settled(_ number: Int, _ outcome: Outcome) {
        let (start, waiters) = state.withLock { state in
            state.ready += state.machine.settled(number, outcome)
            let start = !state.ready.isEmpty && !state.isSaving
            if start { state.isSaving = true }
            return (start, Self.takeWaiters(&state))
        }
        if start {
            keeper.host.task { await self.saveAll() }
        }
        for waiter in waiters { waiter.resume() }
    }

    private static func takeWaiters(_ state: inout State) -> [CheckedContinuation<Void, Never>] {
        guard state.isIdle || state.gaveUp else { return [] }
        defer { state.idleWaiters = [] }
        return state.idleWaiters
    }

    private func saveAll() async {
        var failures = 0
        while true {
            let batch = state.withLock { state in
                var latest: [CursorUpdate] = []
                for update in state.ready {
                    latest.removeAll { $0.key == update.key }
                    latest.append(update)
                }
                state.ready = []
                if latest.isEmpty { state.isSaving = false }
                return latest
            }
            if batch.isEmpty { break }
            do {
                try await keeper.save(node, batch)
                failures = 0
            } catch {
                failures += 1
                let gaveUp = state.withLock { state in
                    state.ready = batch + state.ready
                    return state.gaveUp
                }
                let text = "the cursor cannot be saved: \(describeError(error))"
                if gaveUp {
                    keeper.log.named(node).error("\(text); events may be repeated at the next start")
                    state.withLock { $0.isSaving = false }
                    break
                }
                if failures == 1 { keeper.log.named(node).error("\(text); trying again") }
                let pause = RetryPolicy(base: .milliseconds(250), cap: .seconds(30), jitter: false)
                try? await keeper.clock.sleep(for: pause.pause(afterAttempt: failures, unit: 1))
            }
        }
        let waiters = state.withLock { Self.takeWaiters(&$0) }
        for waiter in waiters { waiter.resume() }
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

    /// Emissions that have not settled.
    var openCount: Int { state.withLock { $0.machine.openCount } }
}
