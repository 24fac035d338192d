// feedbus: GitHub's events as CloudEvents.

public import FeedbusPlugin

/// Makes events, with one shared origin for each source and type.
public struct GitHubEventMaker: Sendable {
    private struct Key: Hashable {
        var source: String
        var type: String
        var isRecorded: Bool
    }

    private let node: String
    private var origins: [Key: EventOrigin] = [:]

    public init(node: String) { self.node = node }

    /// - Parameter source: the address of the events, without a query.
    public mutating func event(_ event: GitHubEvent, source: String) -> Event {
        let key = Key(source: source, type: event.type, isRecorded: event.isRecorded)
        let origin: EventOrigin
        if let known = origins[key] {
            origin = known
        } else {
            if origins.count >= 1_000 { origins = [:] }  // the names of types come from outside
            origin = EventOrigin(
                source: source, type: GitHubEventMaker.typePrefix + event.type, node: node, recorded: event.isRecorded)
            origins[key] = origin
        }
        return Event(
            origin: origin, id: Bytes(event.id), subject: event.repository, time: event.createdAt, data: event.data,
            attributes: event.attributes)
    }

    /// What the CloudEvents type of every GitHub event begins with.
    public static let typePrefix = "com.github.event."
}
