// feedbus: what a poll says about the next one.

/// A poll went well.
public struct PollResult: Sendable {
    /// The next poll is no sooner than this after the end of this one (`Fetched.minimumWait`).
    public var minimumWait: Duration

    public init(minimumWait: Duration = .zero) { self.minimumWait = minimumWait }
}
