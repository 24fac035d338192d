// feedbus: time is injected. The loop's clock measures it in the program, a virtual one in tests.

/// A point on a monotonic clock: nanoseconds since a start that only the clock knows.
public struct Instant: Sendable, Hashable, Comparable {
    public var nanoseconds: Int64

    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Saturates instead of overflowing, so that "in 300 years" is a valid deadline.
    public static func + (instant: Instant, duration: Duration) -> Instant {
        let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(duration.nanoseconds)
        return Instant(nanoseconds: overflow ? (duration > .zero ? .max : .min) : sum)
    }

    public static func - (left: Instant, right: Instant) -> Duration {
        let (difference, overflow) = left.nanoseconds.subtractingReportingOverflow(right.nanoseconds)
        return .nanoseconds(overflow ? (left > right ? Int64.max : Int64.min) : difference)
    }
}

/// The only source of time in feedbus: a monotonic clock to measure and wait with, and the wall clock to show.
public protocol EventClock: Sendable {
    /// Monotonic; never goes back, whatever happens to the wall clock.
    var now: Instant { get }
    /// The wall clock (UTC). May jump.
    var wallTime: WallTime { get }
    /// Suspends until `now >= deadline`, on the caller's executor.
    /// - Throws: `CancellationError`, at once, when the task is cancelled.
    func sleep(until deadline: Instant) async throws
}

extension EventClock {
    /// Suspends for `duration`; returns at once when it is not positive.
    /// - Throws: `CancellationError`, at once, when the task is cancelled.
    public func sleep(for duration: Duration) async throws {
        guard duration > .zero else { return try Task.checkCancellation() }
        try await sleep(until: now + duration)
    }
}

extension Duration {
    /// Whole nanoseconds, saturated at the range of `Int64` (292 years).
    public var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflow2) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflow || overflow2 ? (seconds < 0 ? .min : .max) : sum
    }

    /// Seconds as a floating-point number.
    public var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }
}
