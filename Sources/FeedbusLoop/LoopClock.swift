// feedbus: time, as a loop measures it.

internal import CLibuv
package import FeedbusBase
internal import Glibc

/// The clock of a loop. Sleepers wait on a timer of the loop; none of Swift's own timers takes part.
package struct LoopClock: EventClock {
    let loop: EventLoop

    package var now: Instant { Instant(nanoseconds: Int64(uv_hrtime())) }

    package var wallTime: WallTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return WallTime(seconds: Int64(time.tv_sec), nanoseconds: Int32(time.tv_nsec))
    }

    /// Suspends until `deadline`, to the next millisecond; returns at once where it has passed.
    /// - Throws: `CancellationError`, at once, when the task is cancelled or the loop has been told to stop.
    package func sleep(until deadline: Instant) async throws {
        try Task.checkCancellation()
        guard now < deadline else { return }
        let loop = loop
        do {
            try await loop.wait { (waiter: LoopWaiter<Void>) in
                let sleeper = Sleeper(waiter)
                // Not strongly both ways: the heap keeps the sleeper, the sleeper keeps the waiter.
                waiter.onCancel { [weak sleeper] in if let sleeper { loop.core.unschedule(sleeper) } }
                loop.core.schedule(sleeper, at: deadline.nanoseconds)
            }
        } catch is FeedbusError {
            throw CancellationError()
        }
    }
}

private final class Sleeper: TimerEntry {
    private let waiter: LoopWaiter<Void>
    init(_ waiter: LoopWaiter<Void>) { self.waiter = waiter }
    override var name: String { "sleeper" }
    override func fire() { waiter.resume(returning: ()) }
    override func abandon() { waiter.resume(throwing: CancellationError()) }
}

extension EventLoop {
    package var clock: LoopClock { LoopClock(loop: self) }
}
