// feedbus: one task waits for a sign of another.

import FeedbusBase
public import Synchronization

/// A sign from any task to one that waits. A sign that comes first is remembered, once.
@usableFromInline
final class Signal: Sendable {
    @usableFromInline
    enum State: Sendable {
        case idle
        case signalled
        case waiting(UnsafeContinuation<Void, any Error>)
    }

    @usableFromInline let state = Mutex(State.idle)

    @inlinable
    init() {}

    /// - Throws: `CancellationError` at once when the task is cancelled.
    @usableFromInline
    func wait() async throws {
        try await withCancellation {
            try await withUnsafeThrowingContinuation { continuation in
                let result: Result<Void, any Error>? = state.withLock { state in
                    // The handler below may have run before there was anything to cancel.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if case .signalled = state {
                        state = .idle
                        return .success(())
                    }
                    state = .waiting(continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            takeWaiter(leaving: .idle)?.resume(throwing: CancellationError())
        }
    }

    @inlinable
    func signal() { takeWaiter(leaving: .signalled)?.resume() }

    /// The one that waits; if there is none, the state becomes `other`.
    @usableFromInline
    func takeWaiter(leaving other: State) -> UnsafeContinuation<Void, any Error>? {
        state.withLock { state in
            if case .waiting(let continuation) = state {
                state = .idle
                return continuation
            }
            if case .signalled = other { state = other }
            return nil
        }
    }
}

/// Suspends until the task is cancelled, on no executor's time.
/// - Throws: `CancellationError`, always.
@usableFromInline
func suspendUntilCancelled() async throws { try await Signal().wait() }
