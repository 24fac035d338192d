// feedbus: one event of GitHub's, as far as feedbus looks into it.

public import FeedbusPlugin
import Polling

/// An element of an events page. Its text is passed on as it is, whatever its type and payload.
public struct GitHubEvent: Sendable {
    /// Compared as text. Ids do not order events, and they were restarted lower in 2025.
    public let id: String
    /// `PushEvent`, also types that are not documented.
    public let type: String
    /// `owner/name`; empty where the event has none (`"repo": {}` happens).
    public let repository: Bytes
    /// `created_at`, where it is an RFC 3339 time; else empty. May lie far in the past.
    public let createdAt: Bytes
    public let data: Bytes
    public let attributes: [Event.Attribute]
    public let isRecorded: Bool

    /// Nil where the value is no object or has no usable id.
    init?(_ value: JSONValue, of body: JSONBody) {
        guard value.kind == .object, let id = value["id"]?.identifier else { return nil }
        self.id = id
        type = value["type"]?.identifier ?? "Unknown"
        repository = value["repo"]?["name"]?.stringBytes ?? Bytes()
        createdAt = value["created_at"]?.timeText ?? Bytes()
        data = value.raw
        attributes = body.attributes(of: value.raw)
        isRecorded = body.isRecorded
    }
}

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
