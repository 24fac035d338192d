// feedbus: when the next poll is due.

import FeedbusBase

/// The schedule of one poller. It reads no clock and sleeps nowhere: times go in, times come out.
struct PollSchedule: Sendable {
    /// From the start of one poll to the start of the next.
    let every: Duration
    private var random: SplitMix64
    /// Failed polls in a row.
    private(set) var failures = 0
    /// Ticks that went by while a poll was still under way: in all, and during the last poll.
    private(set) var skipped = 0
    private(set) var skippedLast = 0

    /// The slow interval of failing polls starts here and doubles up to `slowest`, unless `every` is longer.
    static let slow = Duration.seconds(300)
    static let slowest = Duration.seconds(3_600)

    init(every: Duration, seed: UInt64) {
        self.every = every
        self.random = SplitMix64(seed: seed)
    }

    /// The pause before the first poll: many sources with one interval do not all start in one instant.
    mutating func startJitter() -> Duration {
        min(every / 10, .seconds(2)) * random.unit()
    }

    /// When to poll next, after a poll that went well.
    /// - Parameter minimumWait: from `now`, as the service asked.
    mutating func next(startedAt: Instant, now: Instant, minimumWait: Duration) -> Instant {
        failures = 0
        skippedLast = ticksMissed(startedAt: startedAt, now: now)
        skipped += skippedLast
        let due = startedAt + every * (skippedLast + 1)
        return max(due, now + minimumWait) + jitter()
    }

    /// When to poll next, after a poll that failed.
    mutating func nextAfterFailure(startedAt: Instant, now: Instant) -> Instant {
        let doubled = PollSchedule.slow * (1 << min(failures, 10))
        failures += 1
        return max(startedAt + every, now + max(every, min(doubled, PollSchedule.slowest))) + jitter()
    }

    /// Ticks at `startedAt + n * every`, n = 1..., that are before `now`.
    private func ticksMissed(startedAt: Instant, now: Instant) -> Int {
        let step = every.nanoseconds
        let taken = (now - startedAt).nanoseconds
        return step > 0 && taken > 0 ? Int((taken - 1) / step) : 0
    }

    private mutating func jitter() -> Duration { every / 10 * random.unit() }
}
