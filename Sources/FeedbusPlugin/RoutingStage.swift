// feedbus: a stage with several ways out.

public import FeedbusFlow

/// Sends each event on one of several named routes, on several, or on none. Another node reads one of them by
/// `"<node>.<route>"` in its `from`, and what no route took by `"<node>.unmatched"`.
///
/// Like a `ChunkStage` it keeps no event back, and loses the chunk in hand when it throws.
public protocol RoutingStage: Plugin {
    /// The names of the routes, in order, unique, none of them `unmatched`. The config check makes an error of a route
    /// that nobody reads.
    static func routes(of options: Options) -> [String]

    /// - Parameter events: never empty.
    /// - Returns: for each route, in the order of `routes(of:)`, what it takes, then what none took: one chunk more than
    ///   there are routes. Copies of an event may go to several routes.
    /// - Throws: `StageFinished` when the stage has come to a normal end by itself.
    func route(_ events: Chunk<Event>) async throws -> [Chunk<Event>]
}
