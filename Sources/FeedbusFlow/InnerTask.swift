// feedbus: the one flow that flatMapLatest and flatMapFirst have going.

import FeedbusBase
import Synchronization

/// Runs one flow at a time in a task that can be stopped by itself, which a child of a group cannot.
///
/// Whoever owns it calls `stop` before it returns: so no task is left behind.
final class InnerTask: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var isRunning = false
        /// Counts starts: a task that was stopped has no say any more.
        var number = 0
        var isCancelled = false
        var failure: (any Error)?
    }

    private let state = Mutex(State())
    private let failed = Signal()

    var isRunning: Bool { state.withLock { $0.isRunning } }

    /// Starts `body` at once, on the caller's thread and with its isolation and executor preference.
    func start(isolation: (any Actor)?, _ body: @escaping @Sendable () async throws -> Void) {
        let number = state.withLock { state in
            state.number += 1
            state.isRunning = true
            return state.number
        }
        let preference = withUnsafeCurrentTask { $0?.unownedTaskExecutor?.asTaskExecutor() }
        let task = Task.immediate(executorPreference: preference) {
            do {
                try await runIsolated(to: isolation, body)
                self.end(number, nil)
            } catch {
                self.end(number, error)
            }
        }
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    /// Cancels what runs and returns when it has ended. What it fails with is dropped.
    func stop() async {
        let task = state.withLock { state in
            state.number += 1
            state.isRunning = false
            return state.task.take()
        }
        task?.cancel()
        await task?.value
    }

    /// Cancels what runs, and what will be started.
    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }

    /// Returns when what runs has ended by itself. Cancellation of the caller ends it.
    func finish() async throws {
        await withCancellation {
            await state.withLock { $0.task }?.value
        } onCancel: {
            cancel()
        }
        try checkFailure()
        try Task.checkCancellation()
    }

    /// For whoever is about to stop or start a flow: one that has failed at once has not been looked at yet.
    /// - Throws: what a flow has failed with.
    func checkFailure() throws {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    /// - Throws: what a flow fails with; `CancellationError`.
    func failure() async throws {
        while true {
            try checkFailure()
            try await failed.wait()
        }
    }

    private func end(_ number: Int, _ error: (any Error)?) {
        let isFailure = state.withLock { state in
            guard state.number == number else { return false }
            state.isRunning = false
            state.failure = error
            return error != nil
        }
        if isFailure { failed.signal() }
    }
}
