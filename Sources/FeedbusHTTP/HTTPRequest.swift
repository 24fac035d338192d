// feedbus: what is asked of a service.

public import FeedbusBase

/// One request. Its defaults are those of the plugin options that every HTTP plugin has.
public struct HTTPRequest: Sendable {
    /// An absolute `http` or `https` URL.
    public var url: String { didSet { origin = nil } }
    public var method: String
    public var headers: HTTPHeaders
    public var body: Bytes?
    /// Sent as `Authorization: Bearer`; never shown, and not sent on to another host by a redirect.
    public var bearer: Secret?
    /// For the whole request, redirects and body included. From 1 ms.
    public var timeout: Duration
    /// The most bytes of body, counted unpacked.
    public var maxBody: Int
    /// Names of query items whose values are hidden in logs and recordings, such as `key`.
    public var secretQuery: [String]
    /// Names of headers whose values are hidden beside the well-known ones (`Authorization`, `X-Api-Key` and such), and
    /// which a redirect to another host drops.
    public var secretHeaders: [String]

    /// What was secret in the request that a redirect has led here from: hidden as the secrets of this one are.
    package var earlierSecrets: [String] = []

    /// Scheme, host and port of the URL, where somebody has read it already.
    var origin: String?

    public init(
        _ url: String, method: String = "GET", headers: HTTPHeaders = [:], body: Bytes? = nil, bearer: Secret? = nil,
        timeout: Duration = .seconds(30), maxBody: Int = 16 << 20, secretQuery: [String] = [],
        secretHeaders: [String] = []
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
        self.bearer = bearer
        self.timeout = timeout
        self.maxBody = maxBody
        self.secretQuery = secretQuery
        self.secretHeaders = secretHeaders
    }

    /// Whether sending it twice has the effect of sending it once (RFC 9110, 9.2.2).
    package var isIdempotent: Bool { ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"].contains(method) }
}
