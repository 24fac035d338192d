// feedbus: how many messages the same cause may put into the log.

import FeedbusPlugin

/// Lets so many messages through in a stretch of time and counts the rest, so that a child or file full of nonsense does
/// not fill the log with it.
package struct LogBudget {
    package let limit: Int
    package let window: Duration
    private var began: Instant?
    private var used = 0
    private var suppressed = 0

    package init(limit: Int = 20, window: Duration = .seconds(10)) {
        self.limit = limit
        self.window = window
    }

    package enum Verdict: Equatable {
        /// Log it. So many were left out before it.
        case pass(leftOut: Int)
        case leaveOut
    }

    package mutating func ask(at now: Instant) -> Verdict {
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
    package mutating func rest() -> Int {
        defer { suppressed = 0 }
        return suppressed
    }
}
