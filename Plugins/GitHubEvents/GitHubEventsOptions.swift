// feedbus: the options of GitHubEvents.

public import FeedbusPlugin
public import GitHubAPI
import Polling

public struct GitHubEventsOptions: GitHubOptions {
    var repo: String?
    var repos: [String]?
    var org: String?
    var user: String?
    var isPublic = false
    var perPage = 30
    var maxPages = 10
    var types: [String]?
    var history = History.all
    public var baseURL = Self.defaultBaseURL
    public var token: Secret?
    public var every: Duration = .seconds(60)
    public var timeout: Duration = .seconds(30)
    public var maxBody = 16 << 20
    public var revalidateAfter = 30

    public init() {}

    public static let options: [Option<GitHubEventsOptions>] =
        [
            .string(
                "repo", \.repo, pattern: "a repository as \"owner/name\"", accepts: isRepository,
                help: "the events of one repository", example: "\"apple/swift\""
            ).synonyms("repository"),
            .strings(
                "repos", \.repos, pattern: "a repository as \"owner/name\"", accepts: isRepository,
                help: "the events of several repositories, asked one after the other",
                example: "[\"apple/swift\", \"ReactiveX/RxSwift\"]"
            ).synonyms("repositories"),
            .string(
                "org", \.org, pattern: "the name of an organisation", accepts: isName,
                help: "the public events of an organisation", example: "\"apple\""
            ).synonyms("organization", "organisation"),
            .string(
                "user", \.user, pattern: "the login of a user", accepts: isName, help: "the events of a user",
                example: "\"octocat\""
            ).synonyms("login", "username"),
            .boolean("public", \.isPublic, help: "the public events of all of GitHub (a sample: it moves too fast)"),
            .integer("per_page", \.perPage, in: 1...100, help: "events a page").synonyms("page_size"),
            .integer(
                "max_pages", \.maxPages, in: 1...100,
                help: "the most pages of one poll; GitHub lists at most 300 events of the last 30 days"
            ).synonyms("pages"),
            .strings(
                "types", \.types, help: "only events of these types",
                example: "[\"WatchEvent\", \"ReleaseEvent\"]"
            ).synonyms("type", "events", "kinds"),
            History.option("history", \.history),
        ] + gitHubOptions

    /// Where the events are, one address for each list of events.
    var lists: [String] {
        let base = service.baseURL
        if let repo { return [service.eventsURL(repository: repo)] }
        if let repos {
            var seen: Set<String> = []
            return repos.filter { seen.insert($0.lowercased()).inserted }.map { service.eventsURL(repository: $0) }
        }
        if let org { return ["\(base)/orgs/\(org)/events"] }
        if let user { return ["\(base)/users/\(user)/events"] }
        return ["\(base)/events"]
    }

    /// The options that say whose events are wanted, as far as they are given.
    var subjects: [String] {
        [
            repo.map { _ in "repo" }, repos.map { _ in "repos" }, org.map { _ in "org" }, user.map { _ in "user" },
            isPublic ? "public" : nil,
        ].compactMap { $0 }
    }
}

@Sendable private func isName(_ text: String) -> Bool {
    !text.isEmpty && text != "." && text != ".."
        && text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."): true
            default: false
            }
        }
}

@Sendable private func isRepository(_ text: String) -> Bool {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    return parts.count == 2 && parts.allSatisfy { isName(String($0)) }
}
