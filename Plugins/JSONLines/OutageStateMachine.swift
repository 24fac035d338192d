// feedbus: how long to wait while a file cannot be written, and what is said about it.

import FeedbusPlugin

/// One time of trouble with a file, from the first failure to the next success.
struct OutageStateMachine {
    private var began: Instant?
    private var pause: Duration = .zero
    private var reason = ""

    static let firstPause = Duration.milliseconds(250)
    static let longestPause = Duration.seconds(5)

    /// A call failed.
    /// - Returns: how long to wait before the next one, and whether this is news: the beginning of the trouble, or another
    ///   reason than before.
    mutating func failed(at now: Instant, because reason: String) -> (pause: Duration, isNews: Bool) {
        let isFirst = began == nil
        let isNews = isFirst || reason != self.reason
        self.reason = reason
        if isFirst { began = now }
        pause = isFirst ? OutageStateMachine.firstPause : min(pause * 2, OutageStateMachine.longestPause)
        return (pause, isNews)
    }

    /// A call succeeded.
    /// - Returns: how long the trouble lasted; nil where there was none.
    mutating func succeeded(at now: Instant) -> Duration? {
        guard let began else { return nil }
        self = OutageStateMachine()
        return now - began
    }
}
