// feedbus: polls again and again, on schedule.

public import FeedbusBase

/// Runs one poll after the other: never two at a time, starts spread, slower while the polls fail.
public struct Poller: Sendable {
    private let every: Duration
    private let once: Bool
    private let immediate: Bool
    private let clock: any EventClock
    private let log: Log
    private let seed: UInt64

    /// - Parameters:
    ///   - every: from the start of one poll to the start of the next.
    ///   - once: `--once`: one poll, at once, and its error is thrown on.
    ///   - immediate: the first poll starts at once (offline).
    ///   - log: in the node's name.
    ///   - seed: the node's, so that nodes differ.
    public init(every: Duration, once: Bool, immediate: Bool, clock: any EventClock, log: Log, seed: UInt64) {
        self.every = every
        self.once = once
        self.immediate = immediate
        self.clock = clock
        self.log = log
        self.seed = seed
    }

    /// Polls until the source is complete or the task is cancelled.
    ///
    /// A poll that fails is reported, and the next one comes after the slow interval: the larger of `every` and 5
    /// minutes, doubling to an hour while polls fail.
    /// - Parameter poll: nil = the source is complete.
    /// - Throws: `CancellationError`; with `once`, what the poll threw.
    public func run(_ poll: () async throws -> PollResult?) async throws {
        var schedule = PollSchedule(every: every, seed: seed)
        if !once && !immediate { try await clock.sleep(for: schedule.startJitter()) }
        while true {
            try Task.checkCancellation()
            guard let next = try await round(&schedule, poll) else { return }
            try await clock.sleep(until: next)
        }
    }

    /// One poll, in a call of its own: what it needs is given back before the wait, in which most sources are most of the
    /// time. Returns when the next one is due; nil where there is none.
    private func round(
        _ schedule: inout PollSchedule, _ poll: () async throws -> PollResult?
    ) async throws -> Instant? {
        let startedAt = clock.now
        let next: Instant
        do {
            guard let result = try await poll(), !once else { return nil }
            next = schedule.after(result, startedAt: startedAt, now: clock.now, log: log)
        } catch {
            try Task.checkCancellation()
            if once || error is CancellationError { throw error }
            next = schedule.after(error, startedAt: startedAt, now: clock.now, log: log)
        }
        return next
    }
}
