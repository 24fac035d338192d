// feedbus: a deadline that one branch of an operator moves and another waits for.

import FeedbusBase
import Synchronization

/// A deadline that can be set, moved to a later time and cleared while one task waits for it.
///
/// Moving it costs no timer: the waiting task looks again when the earlier deadline has come.
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

    /// Suspends until the deadline has come; it is clear then.
    /// - Throws: `CancellationError` at once when the task is cancelled.
    func ring() async throws {
        while true {
            let (next, isDue) = deadline.withLock { deadline in
                guard let next = deadline else { return (Instant?.none, false) }
                let isDue = next <= clock.now
                if isDue { deadline = nil }
                return (next, isDue)
            }
            if isDue { return try Task.checkCancellation() }
            if let next { try await clock.sleep(until: next) } else { try await changed.wait() }
        }
    }
}
