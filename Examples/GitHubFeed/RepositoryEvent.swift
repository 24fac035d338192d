// feedbus: example program: one event of a GitHub repository.

import Feedbus

/// Who did what where, as far as the program shows it.
package struct RepositoryEvent: Sendable, Hashable, CustomStringConvertible {
    package let id: String
    let time: String
    let actor: String
    let deed: String
    let repository: String

    package var description: String { "\(time) \(repository): \(actor) \(deed)" }

    /// Nil where the service sends no event.
    init?(_ value: JSONValue) {
        guard let id = value["id"]?.string, let type = value["type"]?.string else { return nil }
        self.id = id
        time = value["created_at"]?.string ?? "?"
        actor = value["actor"]?["login"]?.string ?? "someone"
        repository = value["repo"]?["name"]?.string ?? "?"
        let action = value["payload"]?["action"]?.string
        deed =
            switch type {
            case "PushEvent": "pushed"
            case "WatchEvent": "starred it"
            case "ForkEvent": "forked it"
            case "IssuesEvent": "\(action ?? "changed") an issue"
            case "IssueCommentEvent": "commented on an issue"
            case "PullRequestEvent": "\(action ?? "changed") a pull request"
            case "PullRequestReviewEvent", "PullRequestReviewCommentEvent": "reviewed a pull request"
            case "CreateEvent": "created a branch or a tag"
            case "DeleteEvent": "deleted a branch or a tag"
            case "ReleaseEvent": "\(action ?? "published") a release"
            default: type
            }
    }

    /// The events of an answer, newest first as GitHub lists them.
    /// - Throws: `JSONError` for what is no JSON.
    static func list(in answer: HTTPResponse) throws -> [RepositoryEvent] {
        try JSON.parse(answer.body).elements.compactMap(RepositoryEvent.init)
    }

    /// As `init(_:)` reads it.
    var json: String {
        let fields = [
            "\"id\":\(quoted(id))", "\"type\":\(quoted(deed))", "\"created_at\":\(quoted(time))",
            "\"actor\":{\"login\":\(quoted(actor))}", "\"repo\":{\"name\":\(quoted(repository))}",
        ]
        return "{\(fields.joined(separator: ","))}"
    }

    private func quoted(_ text: String) -> String { JSON.quote(text).string }
}
