// feedbus: how many lines a child may cause in the log.

import FeedbusPlugin

/// Lets so many messages through in a stretch of time and counts the rest, so that a child that prints nonsense for
/// hours does not fill the log with it.
struct LogBudget {
    let limit: Int
    let window: Duration
    private var began: Instant?
    private var used = 0
    private var suppressed = 0

    init(limit: Int = 20, window: Duration = .seconds(10)) {
        self.limit = limit
        self.window = window
    }

    enum Verdict: Equatable {
        /// Log it. So many were left out before it.
        case pass(leftOut: Int)
        case leaveOut
    }

    mutating func ask(at now: Instant) -> Verdict {
        if let began, now - began < window {
            guard used < limit else {
                suppressed += 1
                return .leaveOut
            }
            used += 1
            return .pass(leftOut: 0)
        }
        let leftOut = suppressed
        began = now
        used = 1
        suppressed = 0
        return .pass(leftOut: leftOut)
    }

    /// The end: how many were left out since the last one that passed.
    mutating func rest() -> Int {
        defer { suppressed = 0 }
        return suppressed
    }
}
