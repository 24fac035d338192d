// feedbus: one page of GitHub's events.

public import FeedbusPlugin
public import Polling

/// A page, newest event first.
public struct EventsPage: Sendable {
    public var events: [GitHubEvent]
    /// Elements that are no objects or have no id.
    public var unusable: Int
    public var next: NextPage

    public init(events: [GitHubEvent], unusable: Int = 0, next: NextPage = .none) {
        self.events = events
        self.unusable = unusable
        self.next = next
    }

    /// Reads an answer. A 422 (past the last page) is an empty page.
    /// - Throws: where the body is no JSON array, or has elements and none is an event.
    public init(_ response: HTTPResponse, service: GitHubService) throws {
        guard response.status != EventsPage.pastTheEnd else {
            self.init(events: [])
            return
        }
        let body = try JSONBody(response)
        guard body.root.kind == .array else {
            throw FeedbusError.shape("the answer is no list of events, but \(body.root.kind.rawValue)")
        }
        let events = body.root.elements.compactMap { GitHubEvent($0, of: body) }
        try FeedbusError.requireUsable(
            events.count, unusable: body.root.count - events.count, what: "an event with an id")
        self.init(
            events: events, unusable: body.root.count - events.count,
            next: NextPage(response.headers, from: response.url, service: service.baseURL))
    }

    /// What GitHub answers to a page behind the last one.
    public static let pastTheEnd = 422
}
