// feedbus: a request on its way through the polite client.

import FeedbusBase

/// The state of one request between its attempts.
struct Asking: Sendable {
    var request: HTTPRequest
    let url: HTTPURL
    let service: ServiceKey
    /// The budget that it uses, as far as the request tells; then, as the last answer named it.
    var resource: String
    let accepted: Set<Int>
    /// 304 is an answer to it.
    let isConditional: Bool
    /// 1...
    var attempt = 1
    var startedAt = Instant(nanoseconds: 0)
    /// The URLs that the last attempt was redirected from.
    var redirectedFrom: [HTTPURL] = []
    /// What this request waits for on its own.
    var notBefore: Block?

    /// - Throws: `FeedbusError` (`http.url`) where the URL is none.
    init(_ request: HTTPRequest, resource: String?, accepted: Set<Int>) throws(FeedbusError) {
        do {
            url = try HTTPURL(request.url)
        } catch {
            throw FeedbusError(
                .httpURL, "not an http or https URL: \(Redaction.url(request.url, secretQuery: request.secretQuery))")
        }
        self.resource = resource ?? RateLimits.likelyResource(path: url.path)
        self.accepted = accepted
        service = ServiceKey(request, url)
        isConditional = request.headers["If-None-Match"] != nil || request.headers["If-Modified-Since"] != nil
        self.request = request
        self.request.origin = url.origin
    }

    var endpoint: String { url.endpoint }

    /// Scheme and host as the URL writes them, for messages.
    var origin: String {
        let shown = Redaction.url(request.url, secretQuery: [])
        var slashes = 0
        return String(
            shown.prefix { character in
                if character == "/" { slashes += 1 }
                return slashes < 3 && character != "?" && character != "#"
            })
    }

    mutating func begin(at now: Instant) {
        startedAt = now
        redirectedFrom = []
        notBefore = nil
    }

    /// One clear sentence about an answer that is an error.
    func error(_ answer: Answer) -> FeedbusError {
        if answer.verdict == .uninvited {
            return FeedbusError(
                .httpProtocol, "\(request.shown): answered 304 Not Modified to a request without validators",
                isRetriable: true)
        }
        return FeedbusError(
            .httpStatus, "\(request.shown): \(answer.statusLine)", isRetriable: answer.verdict != .refused)
    }

    /// An answer that the plugin could not use.
    func unusable(_ answer: Answer, _ cause: any Error) -> FeedbusError {
        FeedbusError(
            .httpDecode,
            "\(request.shown): the answer cannot be used: \(Redaction.text(describeError(cause), of: request))",
            isRetriable: true, cause: cause)
    }

    /// Why a budget is closed, for people.
    func reason(_ wait: AskedWait) -> String {
        switch wait.reason {
        case .retryAfter: "the service asked for it (Retry-After)"
        case .quotaSpent: "the quota \"\(resource)\" is spent"
        case .limitWithoutHint: "a rate limit that does not say how long"
        }
    }
}
