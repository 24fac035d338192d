// feedbus: the normal end of a stage by itself.

public import FeedbusFlow

/// Thrown by a `ChunkStage` or `RoutingStage` that has come to a normal end by itself, such as one that passes the first
/// ten events. The stage is completed: what comes later, and what it leaves out of the chunk in hand, counts as delivered.
public struct StageFinished: Error, Sendable {
    /// For the log; nil where an end by itself is what everybody expects.
    public var reason: String?
    /// Goes on first. (A `RoutingStage` has none.)
    public var last: Chunk<Event>

    public init(_ reason: String? = nil, last: Chunk<Event> = []) {
        self.reason = reason
        self.last = last
    }
}
