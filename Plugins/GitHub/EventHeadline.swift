// feedbus: a GitHub event in a few words.

public import FeedbusPlugin

/// `octocat pushed to apple/swift`
public enum EventHeadline {
    /// Nil for events that are not GitHub's.
    public static func text(of event: Event) -> String? {
        let type = event.origin.type.string
        guard type.hasPrefix(GitHubEventMaker.typePrefix), let data = try? JSON.parse(event.data) else { return nil }
        let actor = text(data["actor"]?["display_login"]) ?? text(data["actor"]?["login"]) ?? "someone"
        let repository = text(data["repo"]?["name"]) ?? "a repository"
        let name = String(type.dropFirst(GitHubEventMaker.typePrefix.count))
        return "\(actor) \(deed(name, data["payload"], repository))"
    }

    private static func deed(_ type: String, _ payload: JSONValue?, _ repository: String) -> String {
        let given = text(payload?["action"])
        // GitHub says "synchronize" for new commits on the branch of a pull request.
        let action = given == "synchronize" ? "updated" : given
        switch type {
        case "PushEvent": return "pushed to \(repository)"
        case "WatchEvent": return "starred \(repository)"
        case "ForkEvent": return "forked \(repository)"
        case "PublicEvent": return "made \(repository) public"
        case "GollumEvent": return "edited the wiki of \(repository)"
        case "CreateEvent", "DeleteEvent":
            let verb = type == "CreateEvent" ? "created" : "deleted"
            guard let kind = text(payload?["ref_type"]), kind != "repository" else { return "\(verb) \(repository)" }
            return "\(verb) \(kind) \(text(payload?["ref"]).map { $0 + " " } ?? "")in \(repository)"
        case "IssuesEvent":
            return "\(action ?? "changed") issue \(thing(payload?["issue"]))in \(repository)\(title(payload?["issue"]))"
        case "IssueCommentEvent":
            return "commented on \(thing(payload?["issue"]))in \(repository)\(title(payload?["issue"]))"
        case "PullRequestEvent":
            let isMerged = action == "closed" && payload?["pull_request"]?["merged"]?.bool == true
            let pull = payload?["pull_request"]
            return
                "\(isMerged ? "merged" : action ?? "changed") pull request \(thing(pull))in \(repository)\(title(pull))"
        case "PullRequestReviewEvent": return "reviewed pull request \(thing(payload?["pull_request"]))in \(repository)"
        case "PullRequestReviewCommentEvent":
            return "commented on pull request \(thing(payload?["pull_request"]))in \(repository)"
        case "CommitCommentEvent": return "commented on a commit in \(repository)"
        case "DiscussionEvent":
            return "\(action ?? "opened") a discussion in \(repository)\(title(payload?["discussion"]))"
        case "ReleaseEvent":
            let tag = text(payload?["release"]?["tag_name"]).map { $0 + " " } ?? ""
            return "\(action ?? "published") release \(tag)of \(repository)"
        case "MemberEvent":
            return "\(action ?? "added") \(text(payload?["member"]?["login"]) ?? "a member") to \(repository)"
        default: return "did \(type) in \(repository)"
        }
    }

    private static func text(_ value: JSONValue?) -> String? {
        value?.string.flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func thing(_ value: JSONValue?) -> String {
        value?["number"]?.int.map { "#\($0) " } ?? ""
    }

    private static func title(_ value: JSONValue?) -> String {
        text(value?["title"]).map { ": \($0)" } ?? ""
    }
}
