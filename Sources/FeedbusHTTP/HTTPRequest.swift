// feedbus: what is asked of a service.

public import FeedbusBase

/// One request. Its defaults are those of the plugin options that every HTTP plugin has.
///
/// As small as a reference: it is copied a dozen times on its way.
public struct HTTPRequest: Sendable {
    private struct Fields: Sendable {
        var url: String
        var method: String
        var headers: HTTPHeaders
        var body: Bytes?
        var bearer: Secret?
        var timeout: Duration
        var maxBody: Int
        var secretQuery: [String]
        var secretHeaders: [String]
        var earlierSecrets: [String] = []
        var origin: String?
    }

    private var fields: Boxed<Fields>

    public init(
        _ url: String, method: String = "GET", headers: HTTPHeaders = [:], body: Bytes? = nil, bearer: Secret? = nil,
        timeout: Duration = .seconds(30), maxBody: Int = 16 << 20, secretQuery: [String] = [],
        secretHeaders: [String] = []
    ) {
        fields = Boxed(
            Fields(
                url: url, method: method, headers: headers, body: body, bearer: bearer, timeout: timeout,
                maxBody: maxBody, secretQuery: secretQuery, secretHeaders: secretHeaders))
    }

    /// An absolute `http` or `https` URL.
    public var url: String {
        get { fields.url }
        set {
            fields.url = newValue
            fields.origin = nil
        }
    }

    public var method: String {
        get { fields.method }
        _modify { yield &fields.method }
    }

    public var headers: HTTPHeaders {
        get { fields.headers }
        _modify { yield &fields.headers }
    }

    public var body: Bytes? {
        get { fields.body }
        _modify { yield &fields.body }
    }

    /// Sent as `Authorization: Bearer`; never shown, and not sent on to another host by a redirect.
    public var bearer: Secret? {
        get { fields.bearer }
        _modify { yield &fields.bearer }
    }

    /// For the whole request, redirects and body included. From 1 ms.
    public var timeout: Duration {
        get { fields.timeout }
        _modify { yield &fields.timeout }
    }

    /// The most bytes of body, counted unpacked.
    public var maxBody: Int {
        get { fields.maxBody }
        _modify { yield &fields.maxBody }
    }

    /// Names of query items whose values are hidden in logs and recordings, such as `key`.
    public var secretQuery: [String] {
        get { fields.secretQuery }
        _modify { yield &fields.secretQuery }
    }

    /// Names of headers whose values are hidden beside the well-known ones (`Authorization`, `X-Api-Key` and such), and
    /// which a redirect to another host drops.
    public var secretHeaders: [String] {
        get { fields.secretHeaders }
        _modify { yield &fields.secretHeaders }
    }

    /// Words of an answer to this request, fit to be shown: without its secrets, and then cut.
    /// - Parameter most: characters.
    public func quoting(_ text: Bytes, most: Int = 200) -> String {
        String(Redaction.beginning(of: text, most: most * 4, of: self).string.prefix(most))
    }

    /// What was secret in the request that a redirect has led here from: hidden as the secrets of this one are.
    package var earlierSecrets: [String] {
        get { fields.earlierSecrets }
        _modify { yield &fields.earlierSecrets }
    }

    /// Scheme, host and port of the URL, where somebody has read it already.
    var origin: String? {
        get { fields.origin }
        _modify { yield &fields.origin }
    }

    /// Whether sending it twice has the effect of sending it once (RFC 9110, 9.2.2).
    package var isIdempotent: Bool { ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"].contains(method) }
}
