// feedbus: whose budget a request uses.

import FeedbusBase

/// A service as budgets and back-off know it: where it is, and who we say we are.
struct ServiceKey: Sendable, Hashable {
    /// Scheme, host and port: `https://api.github.com:443`.
    var origin: String
    /// What the request shows as its credential; nil without one.
    var credential: Secret?

    init(origin: String, credential: Secret?) {
        self.origin = origin
        self.credential = credential
    }

    init(_ request: HTTPRequest, _ url: HTTPURL) {
        // Most requests show nothing.
        if request.bearer == nil, request.headers["Authorization"] == nil, request.secretHeaders.isEmpty,
            request.secretQuery.isEmpty
        {
            self.init(origin: url.origin, credential: nil)
            return
        }
        let shown =
            [request.bearer?.reveal(), request.headers["Authorization"]].compactMap(\.self)
            + request.secretHeaders.compactMap { request.headers[$0] }
            + url.queryItems.filter { request.secretQuery.contains(Percent.decoded($0.name)) }.map(\.value)
        self.init(origin: url.origin, credential: shown.isEmpty ? nil : Secret(shown.joined(separator: "\n")))
    }
}
