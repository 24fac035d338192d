// feedbus: lets the branches of one collection reach its collector one at a time.

import FeedbusBase
public import Synchronization

/// A first-come, first-served lock for tasks that also remembers the failure and then lets nobody in any more.
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

    /// What passes the gate most of the time is alone: then one atomic step lets it in, and one lets it out.
    @usableFromInline
    enum Word {
        @inlinable static var free: Int { 0 }
        /// Somebody is inside, and nobody waits.
        @inlinable static var held: Int { 1 }
        /// Somebody waits, or the gate is closed: the state below knows.
        @inlinable static var guarded: Int { 2 }
    }

    /// What a failure tells about the cause. One branch that fails cancels the others, and so, where an upstream fails, what
    /// its consumer was at: that comes out of a branch sooner than the upstream's error, and must not hide it.
    @usableFromInline
    enum Weight: Comparable, Sendable {
        /// The gate's own refusal, or a cancellation in a task that was cancelled.
        case effect
        /// Another error in a task that was cancelled.
        case perhaps
        case cause
    }

    @usableFromInline
    struct State: Sendable {
        @usableFromInline var isClosed = false
        /// The first failure.
        @usableFromInline var first: (any Error)?
        /// The first one of the greatest weight.
        @usableFromInline var cause: (any Error)?
        @usableFromInline var weight = Weight.effect
        @usableFromInline var waiters = Ring<(id: UInt64, waiter: Waiter)>()
        @usableFromInline var lastID: UInt64 = 0

        @inlinable
        init() {}
    }

    /// Left for `guarded`, and that left again, under the lock of the state only.
    @usableFromInline let word = Atomic(Word.free)
    @usableFromInline let state = Mutex(State())
    /// Looks at the word before a task is put to sleep. The call inside is mostly done sooner than a sleeper is awake, and
    /// once one sleeps, all others have to as well.
    @usableFromInline let looks: Int

    /// - Parameter isolation: where the branches run. On one actor nobody can leave while another looks.
    @inlinable
    init(on isolation: (any Actor)?) { looks = isolation == nil ? 400 : 0 }

    /// The failure that closed the gate, for the task that the branches belong to: the first one if that task is cancelled.
    @inlinable var failure: (any Error)? { state.withLock { Task.isCancelled ? $0.first : $0.cause } }

    /// How the gate was closed; nil while it is open.
    @inlinable var end: (failure: (any Error)?, Void)? {
        state.withLock { $0.isClosed ? (Task.isCancelled ? $0.first : $0.cause, ()) : nil }
    }

    /// Runs `body` when nobody else does. Where every element passes, the steps are written out instead, as here: an `await`
    /// that is followed by anything costs a look at the executor.
    /// - Throws: `Closed` when the gate is closed, what `body` throws (which closes the gate), and `CancellationError`.
    @inlinable @inline(__always)
    func run(_ body: () async throws -> Void) async throws {
        if try !tryEnter() { try await waitToEnter() }
        do { try await body() } catch { throw closing(error) }
        leave()
    }

    /// Lets nobody in any more. What is inside goes on.
    /// - Parameter failure: of the branch that this is called in; nil when the collection is complete.
    @usableFromInline
    func close(_ failure: (any Error)?) {
        let weight: Weight =
            if failure is Closed {
                .effect
            } else if !Task.isCancelled {
                .cause
            } else {
                failure is CancellationError ? .effect : .perhaps
            }
        let waiters = state.withLock { state in
            if !state.isClosed {
                state.isClosed = true
                state.first = failure
                state.cause = failure
                state.weight = weight
                word.store(Word.guarded, ordering: .sequentiallyConsistent)
            } else if let failure, state.first != nil, weight > state.weight {
                state.cause = failure
                state.weight = weight
            }
            return state.waiters.removeAll()
        }
        for (_, waiter) in waiters { waiter.resume(throwing: Closed()) }
    }

    /// Closes the gate with a failure, and returns it.
    @usableFromInline
    func closing(_ failure: any Error) -> any Error {
        close(failure)
        return failure
    }

    /// - Returns: false when somebody is inside: then `waitToEnter` must follow.
    /// - Throws: `Closed`.
    @inlinable @inline(__always)
    func tryEnter() throws -> Bool {
        if takeIfFree() || takeSoon() { return true }
        try checkOpen()
        return false
    }

    @usableFromInline
    func takeSoon() -> Bool {
        for _ in 0..<looks {
            let now = word.load(ordering: .relaxed)
            if now == Word.guarded { return false }
            if now == Word.free, takeIfFree() { return true }
        }
        return false
    }

    @inlinable @inline(__always)
    func takeIfFree() -> Bool {
        word.compareExchange(expected: Word.free, desired: Word.held, ordering: .acquiring).exchanged
    }

    /// For what only needs to know whether a branch has failed.
    /// - Throws: `Closed`.
    @inlinable @inline(__always)
    func checkOpen() throws {
        if word.load(ordering: .acquiring) == Word.guarded { try checkState() }
    }

    @usableFromInline
    func checkState() throws {
        try state.withLock { if $0.isClosed { throw Closed() } }
    }

    @inlinable @inline(__always)
    func leave() {
        if word.compareExchange(expected: Word.held, desired: Word.free, ordering: .releasing).exchanged { return }
        leaveGuarded()
    }

    @usableFromInline
    func leaveGuarded() {
        let next = state.withLock { state in
            let next = state.waiters.popFirst()
            if !state.isClosed, state.waiters.isEmpty {
                word.store(next == nil ? Word.free : Word.held, ordering: .releasing)
            }
            return next
        }
        next?.waiter.resume()
    }

    /// Under the lock: takes the gate, or marks it as waited for.
    /// - Returns: whether it was free.
    private func takeOrMark() -> Bool {
        while true {
            if word.compareExchange(expected: Word.free, desired: Word.held, ordering: .acquiring).exchanged {
                return true
            }
            let (marked, was) = word.compareExchange(
                expected: Word.held, desired: Word.guarded, ordering: .acquiringAndReleasing)
            if marked || was == Word.guarded { return false }
        }
    }

    @usableFromInline
    func waitToEnter() async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withCancellation {
            try await withUnsafeThrowingContinuation { (continuation: Waiter) in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if state.isClosed { return .failure(Closed()) }
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if takeOrMark() { return .success(()) }
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
