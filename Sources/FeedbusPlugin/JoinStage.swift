// feedbus: a stage that tells the nodes that it reads apart.

public import FeedbusFlow

/// What one of the nodes in a `from` emits.
public struct StageInput: Sendable {
    /// The name as it stands in the `from`: `"jokes"`, `"by_type.push"`.
    public let node: String
    /// To be collected once, and not always at once: while nobody collects it, up to the node's `buffer` waits, and then
    /// its policy decides.
    public let events: Flow<Event>

    public init(node: String, events: Flow<Event>) {
        self.node = node
        self.events = events
    }
}

/// Joins the flows of several nodes: each node in the `from` comes as a flow of its own, with a buffer of its own, in the
/// order of the config. Of fewer than two nodes the config check makes an error.
///
/// An event out that stands for one event in is a copy of it. One that is made of several is made with
/// `Event(joining:…)`, so that all their sources learn what becomes of it. An event that is kept for long, beyond its
/// first use, is kept `detached()`: with its receipt it would hold its source's cursor.
public protocol JoinStage: Plugin {
    /// True where an input is not collected before those in front of it have ended. The config check then warns of two
    /// inputs that come from one node: the second would hold up the first. The default is false.
    static var readsInTurn: Bool { get }

    /// Called once each time the stage is started, with at least two inputs.
    func transform(_ inputs: [StageInput]) async throws -> Flow<Event>
}

extension JoinStage {
    public static var readsInTurn: Bool { false }
}
