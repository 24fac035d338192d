// feedbus: polls again and again, on schedule.

public import FeedbusBase

/// Runs one poll after the other: never two at a time, starts spread, slower while the polls fail.
public struct Poller: Sendable {
    /// - Parameters:
    ///   - every: from the start of one poll to the start of the next.
    ///   - once: `--once`: one poll, at once, and its error is thrown on.
    ///   - immediate: no jitter (offline).
    ///   - seed: the node's, so that nodes differ.
    public init(every: Duration, once: Bool, immediate: Bool, clock: any EventClock, log: Log, seed: UInt64) {}

    /// Polls until the task is cancelled.
    /// - Parameter poll: nil = the source is complete.
    /// - Throws: `CancellationError`; with `once`, what the poll threw.
    public func run(_ poll: () async throws -> PollResult?) async throws { fatalError("not yet") }
}
