// feedbus: a caller that is suspended until something happens on a loop.

internal import FeedbusBase

/// One suspended caller. It is resumed exactly once, by what it waits for or by the cancellation of its task.
///
/// `@unchecked Sendable`: every method begins with the check that it runs on the loop's thread, so that only this thread
/// touches the fields.
final class LoopWaiter<Value: Sendable>: @unchecked Sendable {
    private let loop: EventLoop
    private var continuation: UnsafeContinuation<Value, any Error>?
    /// It has been resumed; it may be found in a queue still.
    private(set) var isDone = false
    /// Called when the task was cancelled while it waited.
    private var cancelled: (() -> Void)?

    init(loop: EventLoop) { self.loop = loop }

    /// False where the task was cancelled before it began to wait.
    fileprivate func begin(_ continuation: UnsafeContinuation<Value, any Error>) -> Bool {
        loop.preconditionOnLoop()
        guard !isDone else {
            continuation.resume(throwing: CancellationError())
            return false
        }
        self.continuation = continuation
        return true
    }

    /// What to do when the task is cancelled while it waits.
    func onCancel(_ body: @escaping () -> Void) {
        loop.preconditionOnLoop()
        if !isDone { cancelled = body }
    }

    /// Does nothing for one that has been resumed already.
    func resume(with result: Result<Value, any Error>) {
        loop.preconditionOnLoop()
        guard !isDone else { return }
        isDone = true
        cancelled = nil
        continuation?.resume(with: result)
        continuation = nil
    }

    func resume(returning value: Value) { resume(with: .success(value)) }

    func resume(throwing error: any Error) { resume(with: .failure(error)) }

    fileprivate func cancel() {
        loop.preconditionOnLoop()
        guard !isDone else { return }
        let cancelled = cancelled
        resume(throwing: CancellationError())
        cancelled?()
    }
}

extension EventLoop {
    /// Suspends the caller, on its own executor, until the waiter that `start` gets is resumed. `start` runs on the loop,
    /// at once where the caller is on it.
    /// - Throws: what the waiter is resumed with; `CancellationError`, at once, when the task is cancelled;
    ///   `FeedbusError` with the code `loop.closed` when the loop has ended.
    func wait<Value: Sendable>(_ start: @escaping @Sendable (LoopWaiter<Value>) -> Void) async throws -> Value {
        let waiter = LoopWaiter<Value>(loop: self)
        return try await withCancellation {
            try await withUnsafeThrowingContinuation { continuation in
                let isOpen = perform { if waiter.begin(continuation) { start(waiter) } }
                if !isOpen { continuation.resume(throwing: EventLoop.closedError) }
            }
        } onCancel: {
            // Where the loop has closed, every waiter has been resumed already.
            perform { waiter.cancel() }
        }
    }
}
