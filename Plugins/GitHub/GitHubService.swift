// feedbus: how GitHub's REST API is asked.

public import FeedbusPlugin
import Polling

/// Makes the requests of one service and credential.
public struct GitHubService: Sendable {
    /// Without a final slash.
    public let baseURL: String
    let token: Secret?
    let timeout: Duration
    let maxBody: Int

    public init(baseURL: String, token: Secret?, timeout: Duration, maxBody: Int) {
        self.baseURL = baseURL
        self.token = token
        self.timeout = timeout
        self.maxBody = maxBody
    }

    /// A request with the headers that GitHub asks for (docs.github.com, "Getting started with the REST API").
    /// - Parameter url: of this service; the token goes with it.
    public func request(_ url: String) -> HTTPRequest {
        HTTPRequest(
            url,
            headers: ["Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"],
            bearer: token, timeout: timeout, maxBody: maxBody)
    }

    /// The address of a repository's events, without a query.
    public func eventsURL(repository: String) -> String { "\(baseURL)/repos/\(repository)/events" }

    /// `a=b&c=d`, everything but letters, digits and `-._~:/,` escaped (RFC 3986, section 3.4).
    public static func query(_ items: KeyValuePairs<String, String>) -> String {
        QueryText.make(items, keeping: ":/,")
    }
}
