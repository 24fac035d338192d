// feedbus: the seam between the polite client and whatever carries the bytes.

public import FeedbusBase

/// Carries one exchange: a request out, an answer back. Any status is an answer; redirects are left to the client.
public protocol HTTPTransport: Sendable {
    /// - Throws: `FeedbusError` with one of the codes below where no whole answer came; `CancellationError`, at once,
    ///   when the task is cancelled.
    func send(_ request: HTTPRequest) async throws -> HTTPResponse
}

extension FeedbusError.Code {
    /// The whole request took longer than its `timeout`.
    public static let httpTimeout = FeedbusError.Code("http.timeout")
    /// No connection: refused, no route, or not made in time.
    public static let httpConnect = FeedbusError.Code("http.connect")
    /// The host name has no address, or none could be found out.
    public static let httpDNS = FeedbusError.Code("http.dns")
    /// The connection ended before the answer was complete.
    public static let httpReset = FeedbusError.Code("http.reset")
    /// The TLS handshake failed, or the certificate is not trusted.
    public static let httpTLS = FeedbusError.Code("http.tls")
    /// The unpacked body is larger than `maxBody`.
    public static let httpBodyTooLarge = FeedbusError.Code("http.body-too-large")
    /// The answer breaks HTTP's rules (a 304 that nobody asked for, broken packing).
    public static let httpProtocol = FeedbusError.Code("http.protocol")
    /// A status that is an error.
    public static let httpStatus = FeedbusError.Code("http.status")
    /// A redirect that cannot or must not be followed.
    public static let httpRedirect = FeedbusError.Code("http.redirect")
    /// The answer is not what the service documents.
    public static let httpDecode = FeedbusError.Code("http.decode")
    /// Not a URL, or neither `http` nor `https`.
    public static let httpURL = FeedbusError.Code("http.url")
    /// The recording holds no answer to the request.
    public static let httpNotRecorded = FeedbusError.Code("http.not-recorded")
    /// The transport was closed.
    public static let httpClosed = FeedbusError.Code("http.closed")
}
