// feedbus: how a subject hands out what its subscribers have different room for.

/// How far subscribers may be apart.
public enum SubjectPace: String, Sendable, CaseIterable {
    /// Each subscriber gets at once what it has room for; the next emission waits for the slowest. They are apart by an
    /// emission and the capacity of their edges.
    case each
    /// Nobody gets an element before everybody has room for it; they are apart by the capacity of their edges, with a
    /// capacity of 0 not at all. What a late subscriber gets by replay does not wait: it may hold elements of an emission
    /// under way that the others have no room for yet. RxJava: `publish`; Reactor: `multicast().onBackpressureBuffer`;
    /// Pekko: `BroadcastHub`.
    case slowest
}
