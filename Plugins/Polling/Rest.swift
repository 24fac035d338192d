// feedbus: lists that cannot be had are left alone for a while.

public import FeedbusPlugin

/// Keeps a list that cannot be had from being asked at speed, while the others of its source go on.
public struct Rest: Sendable, Equatable {
    private var failures = 0
    private var over: Instant?

    public init() {}

    public func isOver(at now: Instant) -> Bool { over.map { $0 <= now } ?? true }

    public mutating func succeeded() { self = Rest() }

    /// Rests for the larger of `every` and 5 minutes, doubling to an hour. Returns how long.
    /// - Parameter now: from when it counts. The start of the poll where the next poll may ask again.
    public mutating func failed(at now: Instant, every: Duration) -> Duration {
        let longest = max(every, .seconds(3_600))
        let pause = min(max(every, .seconds(300)) * (1 << min(failures, 10)), longest)
        failures += 1
        over = now + pause
        return pause
    }
}
