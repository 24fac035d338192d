// feedbus: something that is waited for, or else the time is over.

import FeedbusPlugin
import Synchronization

/// A bell that one task waits for. A ring before the wait is not lost.
final class Wake: Sendable {
    private struct State {
        var isRung = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func ring() {
        let waiter = state.withLock { state in
            state.isRung = state.waiter == nil
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Suspends until it rings, but not longer than `limit`.
    /// - Throws: `CancellationError` when the task is cancelled.
    func wait(upTo limit: Duration, _ context: PluginContext) async throws {
        let timer = context.task { [self] in
            try await context.clock.sleep(for: limit)
            ring()
        }
        await withCancellation {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.isRung || Task.isCancelled { return true }
                    state.waiter = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            ring()
        }
        timer.cancel()
        state.withLock { $0.isRung = false }
        try Task.checkCancellation()
    }
}
