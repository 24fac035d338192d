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
