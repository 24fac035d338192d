// feedbus: the options of TrendingRepos.

public import FeedbusPlugin
public import GitHubAPI
import Polling

public struct TrendingReposOptions: GitHubOptions {
    /// GitHub's orders; `best-match` is its own, for which `sort` is left out.
    enum Sort: String, Sendable, CaseIterable {
        case stars, forks, updated
        case helpWantedIssues = "help-wanted-issues"
        case bestMatch = "best-match"
    }

    enum Order: String, Sendable, CaseIterable { case desc, asc }

    /// When a repository is emitted.
    enum Trigger: String, Sendable, CaseIterable { case change, poll }

    var q = "language:swift"
    var sort = Sort.stars
    var order = Order.desc
    var limit = 5
    var eventsPerRepo = 5
    var maxConcurrent = 2
    var on = Trigger.change
    public var baseURL = Self.defaultBaseURL
    public var token: Secret?
    public var every: Duration = .seconds(600)
    public var timeout: Duration = .seconds(30)
    public var maxBody = 16 << 20
    public var revalidateAfter = 30

    public init() {}

    public static let options: [Option<TrendingReposOptions>] =
        [
            .string(
                "q", \.q, pattern: "a search of 1 to 256 characters", accepts: { (1...256).contains($0.count) },
                help: "the search, in GitHub's words for repositories", example: "\"language:swift stars:>100\""
            ).synonyms("query", "search"),
            .choice("sort", \.sort, help: "what ranks them").synonyms("sort_by", "order_by"),
            .choice("order", \.order, help: "the most first, or the least").synonyms("direction"),
            .integer("limit", \.limit, in: 1...100, help: "how many repositories").synonyms("top", "count", "per_page"),
            .integer(
                "events_per_repo", \.eventsPerRepo, in: 0...100,
                help: "the newest so many events of each repository; 0: no events"
            ).synonyms("events"),
            .integer(
                "max_concurrent", \.maxConcurrent, in: 1...16,
                help: "requests for the repositories' events at one time"
            ).synonyms("concurrency", "parallel"),
            .choice(
                "on", \.on,
                help: "emit a repository when it enters the list or changes its rank, or at every poll"
            ).synonyms("emit", "when"),
        ] + gitHubOptions

    /// The address of the search without its size: what a ranking is of, and the `source` of its events.
    var searchURL: String {
        let sorting =
            sort == .bestMatch ? "" : "&" + GitHubService.query(["sort": sort.rawValue, "order": order.rawValue])
        return "\(service.baseURL)/search/repositories?\(GitHubService.query(["q": q]))\(sorting)"
    }

    var requestURL: String { "\(searchURL)&per_page=\(limit)" }

    /// As many ids as several polls can read, so that no event is forgotten while it can still come back.
    var seenLimit: Int { max(1_000, 4 * limit * max(eventsPerRepo, 1)) }
}
