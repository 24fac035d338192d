// feedbus: a deadline that one branch of an operator moves and another waits for.

import FeedbusBase
import Synchronization

/// A deadline that can be set, moved to a later time and cleared while one task waits for it.
///
/// Moving it costs no timer: the waiting task looks again when the earlier deadline has come.
///
/// A clock that is about to stop may refuse to wait so long (`CancellationError` in a task that is not cancelled). Then the
/// alarm does not ring any more, and the operator goes on until its input ends: what it holds comes out there.
final class Alarm: Sendable {
    private let clock: any EventClock
    private let deadline = Mutex<Instant?>(nil)
    private let changed = Signal()

    init(_ clock: any EventClock) { self.clock = clock }

    /// - Parameter later: not before a deadline that is set already.
    func set(for later: Instant) {
        let wasClear = deadline.withLock { deadline in
            defer { deadline = later }
            return deadline == nil
        }
        if wasClear { changed.signal() }
    }

    func clear() { deadline.withLock { $0 = nil } }

    /// Suspends until the deadline has come; it is clear then. For ever where the clock refuses.
    /// - Throws: `CancellationError` at once when the task is cancelled.
    func ring() async throws {
        if try await !ringUnlessRefused() { try await suspendUntilCancelled() }
    }

    /// - Returns: false when the clock refuses to wait until the deadline, which stays.
    /// - Throws: as `ring()`.
    func ringUnlessRefused() async throws -> Bool {
        while true {
            let (next, isDue) = deadline.withLock { deadline in
                guard let next = deadline else { return (Instant?.none, false) }
                let isDue = next <= clock.now
                if isDue { deadline = nil }
                return (next, isDue)
            }
            if isDue {
                try Task.checkCancellation()
                return true
            }
            guard let next else {
                try await changed.wait()
                continue
            }
            do { try await clock.sleep(until: next) } catch let error as CancellationError {
                if Task.isCancelled { throw error }
                return false
            }
        }
    }
}
