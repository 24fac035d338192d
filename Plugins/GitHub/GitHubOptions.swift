// feedbus: the options of the plugins that ask GitHub.

public import FeedbusPlugin
public import Polling

/// What every plugin that asks GitHub lets its user choose.
public protocol GitHubOptions: PollingOptions {
    /// Another address than GitHub's own: GitHub Enterprise Server (`https://HOST/api/v3`), or a test.
    var baseURL: String { get set }
    var token: Secret? { get set }
}

extension GitHubOptions {
    public static var defaultBaseURL: String { "https://api.github.com" }

    /// `base_url` and `token`, and those of every polling source.
    public static var gitHubOptions: [Option<Self>] {
        [
            .url(
                "base_url", \.baseURL, help: "where the API is; another one for GitHub Enterprise Server",
                example: "\"https://github.example.com/api/v3\""
            ).synonyms("url", "host", "endpoint"),
            .secret(
                "token", \.token, help: "sent as \"Authorization: Bearer\": 5000 requests an hour instead of 60"
            ).synonyms("access_token", "api_key", "auth"),
        ] + pollingOptions
    }

    /// The service as these options name it.
    public var service: GitHubService {
        GitHubService(baseURL: baseURL, token: token, timeout: timeout, maxBody: maxBody)
    }
}
