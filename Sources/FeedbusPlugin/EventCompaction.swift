// feedbus: events that are kept for a while.

extension Event {
    /// The event without the large buffer that it was read in, but with its receipt: to keep for a while, where many others
    /// of its chunk go on. See `detached()`, which leaves the receipt behind.
    public func compacted() -> Event {
        var copy = detached()
        copy.receipt = receipt
        return copy
    }
}
