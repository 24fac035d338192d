// feedbus: lets the branches of one collection reach its collector one at a time.

public import Synchronization

/// A first-come, first-served lock for tasks that also remembers the first failure and then lets nobody in any more.
///
/// Operators that run several flows at once call their collector through a gate: it is never called concurrently, and
/// not at all after one of its calls, or one of the flows, has failed.
@usableFromInline
final class SerialGate: Sendable {
    @usableFromInline typealias Waiter = UnsafeContinuation<Void, any Error>

    /// Thrown to those that wait when the gate closes. The failure itself is `failure`.
    @usableFromInline
    struct Closed: Error {
        @inlinable
        init() {}
    }

    @usableFromInline
    struct State: Sendable {
        @usableFromInline var isHeld = false
        @usableFromInline var isClosed = false
        @usableFromInline var failure: (any Error)?
        @usableFromInline var waiters = Ring<(id: UInt64, waiter: Waiter)>()
        @usableFromInline var lastID: UInt64 = 0

        @inlinable
        init() {}
    }

    @usableFromInline let state = Mutex(State())

    @inlinable
    init() {}

    /// The first failure that closed the gate.
    @inlinable var failure: (any Error)? { state.withLock { $0.failure } }

    /// How the gate was closed; nil while it is open.
    @inlinable var end: (failure: (any Error)?, Void)? { state.withLock { $0.isClosed ? ($0.failure, ()) : nil } }

    /// Runs `body` when nobody else does.
    /// - Throws: `Closed` when the gate is closed, what `body` throws (which closes the gate), and `CancellationError`.
    @inlinable @inline(__always)
    func run(_ body: () async throws -> Void) async throws {
        if try !tryEnter() { try await waitToEnter() }
        do {
            try await body()
        } catch {
            close(error)
            throw error
        }
        leave()
    }

    /// Lets nobody in any more; the first failure counts. What is inside goes on.
    @inlinable
    func close(_ failure: (any Error)?) {
        let waiters = state.withLock { state in
            if !state.isClosed {
                state.isClosed = true
                state.failure = failure
            }
            return state.waiters.removeAll()
        }
        for (_, waiter) in waiters { waiter.resume(throwing: Closed()) }
    }

    @inlinable
    func tryEnter() throws -> Bool {
        try state.withLock { state in
            if state.isClosed { throw Closed() }
            if state.isHeld { return false }
            state.isHeld = true
            return true
        }
    }

    @inlinable
    func leave() {
        let next = state.withLock { state in
            let next = state.waiters.popFirst()
            if next == nil { state.isHeld = false }
            return next
        }
        next?.waiter.resume()
    }

    @usableFromInline
    func waitToEnter() async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { (continuation: Waiter) in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if state.isClosed { return .failure(Closed()) }
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if !state.isHeld {
                        state.isHeld = true
                        return .success(())
                    }
                    state.waiters.append((id, continuation))
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let waiter = state.withLock { $0.waiters.remove { $0.id == id } }
            waiter?.waiter.resume(throwing: CancellationError())
        }
    }
}
