// feedbus: time that moves only when a test moves it.

public import FeedbusBase
import Synchronization

/// A clock that stands still until it is told to go on. It starts at instant 0 and, on the wall, at
/// 2026-03-01T12:00:00Z.
///
/// Sleepers wake one at a time, by their deadlines, those with the same deadline in the order in which they went to
/// sleep; what one wakes has run to the end before the next wakes.
public final class VirtualClock: EventClock, Sendable {
    private struct Sleeper {
        var deadline: Instant
        var number: UInt64
        var continuation: UnsafeContinuation<Void, any Error>
    }

    private struct State {
        var now = Instant(nanoseconds: 0)
        var lastNumber: UInt64 = 0
        /// The next to wake is the last.
        var sleepers: [Sleeper] = []

        mutating func insert(_ sleeper: Sleeper) {
            var low = 0
            var high = sleepers.count
            while low < high {
                let middle = (low + high) / 2
                if sleepers[middle].deadline > sleeper.deadline { low = middle + 1 } else { high = middle }
            }
            sleepers.insert(sleeper, at: low)
        }
    }

    private let loop: ManualLoop
    private let start: WallTime
    private let state = Mutex(State())

    /// - Parameters:
    ///   - loop: runs what wakes.
    ///   - start: the wall time at instant 0.
    public init(loop: ManualLoop, start: WallTime = WallTime(seconds: 1_772_366_400)) {
        self.loop = loop
        self.start = start
    }

    public var now: Instant { state.withLock { $0.now } }

    public var wallTime: WallTime { start + .nanoseconds(now.nanoseconds) }

    /// Tasks that sleep now.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// When the next sleeper wakes.
    public var nextDeadline: Instant? { state.withLock { $0.sleepers.last?.deadline } }

    public func sleep(until deadline: Instant) async throws {
        try Task.checkCancellation()
        let number = state.withLock { state -> UInt64? in
            guard deadline > state.now else { return nil }
            state.lastNumber += 1
            return state.lastNumber
        }
        guard let number else { return }
        try await withCancellation {
            try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Void, any Error>) in
                let isCancelled = state.withLock { state in
                    // The handler below may have run before there was anything to cancel.
                    if Task.isCancelled { return true }
                    state.insert(Sleeper(deadline: deadline, number: number, continuation: continuation))
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.sleepers.firstIndex { $0.number == number }.map { state.sleepers.remove(at: $0) }
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Lets `duration` pass: wakes who is due, in order, and runs what that makes ready. Not from a job of the loop: there,
    /// `sleep`.
    public func advance(by duration: Duration) {
        let end = now + duration
        loop.runUntilIdle()
        while wakeNext(until: end) { loop.runUntilIdle() }
        move(to: end)
    }

    /// Lets time pass while nobody is due.
    func move(to instant: Instant) { state.withLock { $0.now = max($0.now, instant) } }

    /// Moves on to the next deadline, if it is not after `limit`, and wakes one sleeper.
    /// - Returns: false when there is none.
    func wakeNext(until limit: Instant) -> Bool {
        let sleeper = state.withLock { state -> Sleeper? in
            guard let next = state.sleepers.last, next.deadline <= limit else { return nil }
            state.now = max(state.now, next.deadline)
            return state.sleepers.removeLast()
        }
        sleeper?.continuation.resume()
        return sleeper != nil
    }
}
