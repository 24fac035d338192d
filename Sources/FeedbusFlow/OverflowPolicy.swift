// feedbus: what a full edge does.

/// What an edge does with an element that does not fit.
public enum OverflowPolicy: String, Sendable, CaseIterable {
    /// The sender waits: nothing is lost.
    case block
    /// The oldest buffered elements make room: the newest `capacity` are kept.
    case dropOldest = "drop_oldest"
    /// The new element is refused.
    case dropNewest = "drop_newest"
    /// Only the last element is kept (a capacity of 1 and `dropOldest`).
    case latest
    /// The send throws `EdgeOverflow`, and the edge fails after what is buffered. RxJava: `onBackpressureBuffer` with
    /// `delayError`.
    case fail
    /// The element that was buffered last makes room. RxJava: `DROP_LATEST`; Pekko: `dropTail`.
    case dropLast = "drop_last"
    /// All that is buffered makes room. Pekko: `dropBuffer`.
    case dropAll = "drop_all"
    /// The send throws `EdgeOverflow`, and the edge fails before what is buffered, which is dropped. RxJava: `ERROR`; Pekko:
    /// `fail`.
    case failAtOnce = "fail_at_once"

    /// Those that a config may name. The others are for code that comes from other libraries.
    public static let allCases: [OverflowPolicy] = [.block, .dropOldest, .dropNewest, .latest, .fail]
}

/// The consumer of an edge has gone, or all its producers had finished.
public struct EdgeClosed: Error, Sendable, Hashable {
    public init() {}
}

/// An edge with the policy `fail` was full.
public struct EdgeOverflow: Error, Sendable, Hashable, CustomStringConvertible {
    /// The edge's capacity, in elements.
    public var capacity: Int
    public init(capacity: Int) { self.capacity = capacity }
    public var description: String { "the consumer is more than \(capacity) elements behind" }
}
