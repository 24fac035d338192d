// feedbus: saves the cursors of many sources.

import FeedbusBase
import FeedbusLoop
import FeedbusPlugin
import Synchronization

/// What the ledgers of a graph have in common: one task that saves what is ready, of all of them together. A task for each
/// would need some KB, and thousands of sources may be polled at a time.
final class CursorKeeper: Sendable {
    /// Cursors of one node that are saved together.
    typealias Saved = (node: String, cursors: [CursorUpdate])

    private struct State {
        var ready: [CursorLedger] = []
        var isSaving = false
    }

    /// The most nodes whose cursors are saved together.
    private static let most = 256

    private let log: Log
    private let clock: any EventClock
    private let host: any LoopHost
    private let save: @Sendable ([Saved]) async throws -> Void
    private let state = Mutex(State())

    /// - Parameter save: saves all of it or nothing.
    init(log: Log, clock: any EventClock, host: any LoopHost, save: @escaping @Sendable ([Saved]) async throws -> Void)
    {
        self.log = log
        self.clock = clock
        self.host = host
        self.save = save
    }

    /// There is something to save in a ledger that had nothing.
    func save(_ ledger: CursorLedger) {
        let start = state.withLock { state in
            state.ready.append(ledger)
            defer { state.isSaving = true }
            return !state.isSaving
        }
        if start { host.task { await self.saveAll() } }
    }

    private func saveAll() async {
        var failures = 0
        while true {
            let ledgers = state.withLock { state in
                let ledgers = Array(state.ready.prefix(Self.most))
                state.ready.removeFirst(ledgers.count)
                if ledgers.isEmpty { state = State() }
                return ledgers
            }
            if ledgers.isEmpty { return }
            let batches = ledgers.map { (node: $0.node, cursors: $0.takeReady()) }
            do {
                try await save(batches)
                failures = 0
                let more = ledgers.filter { $0.saved() }
                state.withLock { $0.ready += more }
            } catch {
                failures += 1
                var more: [CursorLedger] = []
                for (ledger, batch) in zip(ledgers, batches) {
                    let goesOn = ledger.notSaved(batch.cursors)
                    if goesOn { more.append(ledger) }
                    guard failures == 1 || !goesOn else { continue }
                    log.named(ledger.node).error(
                        "the cursor cannot be saved: \(describeError(error)); \(goesOn ? "trying again" : "events may be repeated at the next start")"
                    )
                }
                state.withLock { $0.ready = more + $0.ready }
                if more.isEmpty { continue }
                let pause = RetryPolicy(base: .milliseconds(250), cap: .seconds(30), jitter: false)
                try? await clock.sleep(for: pause.pause(afterAttempt: failures, unit: 1))
            }
        }
    }
}
