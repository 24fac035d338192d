// feedbus: the rate limit that an answer tells of.

import FeedbusBase

/// GitHub's `X-RateLimit-*` fields.
struct RateLimits: Sendable, Hashable {
    /// Where it is, an answer may tell of a limit.
    static let field = "X-RateLimit-Remaining"

    var limit: Int?
    var remaining: Int
    /// By this machine's clock.
    var resetsAt: WallTime?

    /// Nil where the answer says nothing about what is left.
    /// - Parameter now: the wall clock when the answer came.
    init?(_ headers: HTTPHeaders, now: WallTime) {
        guard let text = headers[Self.field], let remaining = Self.number(text) else { return nil }
        self.remaining = remaining
        limit = headers["X-RateLimit-Limit"].flatMap(Self.number)
        resetsAt = WaitCalculator.timeToReset(headers, now: now).map { now + $0 }
    }

    /// The budget that the request was counted in; nil where the answer names none.
    static func resource(_ headers: HTTPHeaders) -> String? {
        headers["X-RateLimit-Resource"].flatMap { $0.isEmpty || $0.utf8.count > 64 ? nil : $0 }
    }

    /// The budget of a path that no answer has named yet, as GitHub has them ("Rate limits for the REST API"); below
    /// `/api/v3` on a server of one's own.
    static func likelyResource(path: String) -> String {
        var parts = path.split(separator: "/")[...]
        if parts.starts(with: ["api", "v3"]) { parts = parts.dropFirst(2) }
        switch parts.first {
        case "search": return parts.dropFirst().first == "code" ? "code_search" : "search"
        case "graphql": return "graphql"
        default: return "core"
        }
    }

    private static func number(_ text: String) -> Int? {
        Int(text.filter { $0 != " " && $0 != "\t" }).flatMap { $0 < 0 ? nil : $0 }
    }
}
