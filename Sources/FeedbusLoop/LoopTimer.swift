// feedbus: calls back after a time.

internal import CLibuv
internal import FeedbusBase

/// A timer for code that lives in callbacks. Use it on its loop only. Tasks sleep with `LoopClock` instead.
package final class LoopTimer: Sendable {
    private let loop: EventLoop
    private let entry: CallbackEntry

    init(loop: EventLoop, fire: @escaping @Sendable () -> Void) {
        self.loop = loop
        entry = CallbackEntry(fire)
    }

    deinit {
        let (loop, entry) = (loop, entry)
        loop.perform { loop.core.unschedule(entry) }
    }

    /// Fires once after `delay`, in a later iteration of the loop even where it is zero. Replaces an earlier start.
    package func start(after delay: Duration) {
        let now = Instant(nanoseconds: Int64(uv_hrtime()))
        loop.core.schedule(entry, at: (now + max(delay, .zero)).nanoseconds)
    }

    package func stop() { loop.core.unschedule(entry) }

    /// The same as `stop()`: there is nothing else to give back.
    package func close() { stop() }
}

/// `@unchecked Sendable`: all that changes is in `TimerEntry`, which only the loop's heap touches, on the loop.
private final class CallbackEntry: TimerEntry, @unchecked Sendable {
    private let callback: @Sendable () -> Void
    init(_ callback: @escaping @Sendable () -> Void) { self.callback = callback }
    override func fire() { callback() }
}

extension EventLoop {
    /// A timer that calls `fire` on the loop. It does not run before `start(after:)`.
    package func makeTimer(_ fire: @escaping @Sendable () -> Void) -> LoopTimer { LoopTimer(loop: self, fire: fire) }
}
