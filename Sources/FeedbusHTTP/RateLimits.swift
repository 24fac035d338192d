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
    var resource: String?

    /// Nil where the answer says nothing about what is left.
    /// - Parameter now: the wall clock when the answer came.
    init?(_ headers: HTTPHeaders, now: WallTime) {
        guard let text = headers[Self.field], let remaining = Self.number(text) else { return nil }
        self.remaining = remaining
        limit = headers["X-RateLimit-Limit"].flatMap(Self.number)
        resetsAt = WaitCalculator.timeToReset(headers, now: now).map { now + $0 }
        resource = headers["X-RateLimit-Resource"].flatMap { $0.isEmpty || $0.utf8.count > 64 ? nil : $0 }
    }

    private static func number(_ text: String) -> Int? {
        Int(text.filter { $0 != " " && $0 != "\t" }).flatMap { $0 < 0 ? nil : $0 }
    }
}
