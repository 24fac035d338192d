// feedbus: when the next poll is due.

package import FeedbusBase

/// The schedule of one poller. It reads no clock and sleeps nowhere: times go in, times come out.
package struct PollSchedule: Sendable {
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

    package init(every: Duration, seed: UInt64) {
        self.every = every
        self.random = SplitMix64(seed: seed)
    }

    /// The pause before the first poll: many sources with one interval do not all start in one instant.
    package mutating func startJitter() -> Duration {
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

    /// When to poll next, after a poll that went well; says when polls had to be skipped.
    package mutating func after(_ result: PollResult, startedAt: Instant, now: Instant, log: Log) -> Instant {
        let next = next(startedAt: startedAt, now: now, minimumWait: result.minimumWait)
        // Reported each time the count has doubled: a source that is always late does not fill the log.
        let before = skipped - skippedLast
        if skipped.leadingZeroBitCount < before.leadingZeroBitCount {
            log.info(
                "the poll took longer than \(every.text): polls skipped: \(skippedLast), \(skipped) in all",
                ["skipped": String(skipped)])
        }
        return next
    }

    /// When to poll next, after a poll that failed; says so.
    package mutating func after(_ error: any Error, startedAt: Instant, now: Instant, log: Log) -> Instant {
        let next = nextAfterFailure(startedAt: startedAt, now: now)
        let pause = Duration.seconds(Int64((next - now).seconds.rounded()))
        log.error("poll failed: \(describeError(error)); asks again in \(pause.text)", ["failures": String(failures)])
        return next
    }

    /// Ticks at `startedAt + n * every`, n = 1..., that are before `now`.
    private func ticksMissed(startedAt: Instant, now: Instant) -> Int {
        let step = every.nanoseconds
        let taken = (now - startedAt).nanoseconds
        return step > 0 && taken > 0 ? Int((taken - 1) / step) : 0
    }

    private mutating func jitter() -> Duration { every / 10 * random.unit() }
}
