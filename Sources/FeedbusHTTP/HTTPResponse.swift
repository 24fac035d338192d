// feedbus: what a service answered.

public import FeedbusBase

/// A whole answer. The body is unpacked (gzip and the like).
public struct HTTPResponse: Sendable {
    public var status: Int
    public var headers: HTTPHeaders
    public var body: Bytes
    /// Where it came from, after redirects.
    public var url: String
    /// True where it came from a recording and not from the live service.
    public var recorded: Bool

    /// From the sending of the request to the end of the answer, where that is known.
    package var took: Duration?

    public init(status: Int, headers: HTTPHeaders = [:], body: Bytes = Bytes(), url: String, recorded: Bool = false) {
        self.status = status
        self.headers = headers
        self.body = body
        self.url = url
        self.recorded = recorded
    }

    /// When the service answered, by its own clock (`Date`; RFC 9110, section 6.6.1); nil where it does not say.
    public var date: WallTime? { headers["Date"].flatMap { HTTPDate.parse($0) } }
}
