// feedbus: how long a service asks to be left alone, read from one answer.

package import FeedbusBase

/// The wait that one answer asks for.
package struct AskedWait: Sendable, Hashable {
    package enum Reason: Sendable, Hashable {
        /// `Retry-After`.
        case retryAfter
        /// `X-RateLimit-Remaining: 0`: until `X-RateLimit-Reset`.
        case quotaSpent
        /// A limit without a hint how long it lasts.
        case limitWithoutHint
    }

    /// How long to wait from the arrival of the answer; at most `WaitCalculator.longest`.
    package var duration: Duration
    /// The same before it was capped.
    package var asked: Duration
    package var reason: Reason

    package var isCapped: Bool { asked > duration }

    init(_ asked: Duration, _ reason: Reason) {
        self.asked = asked
        self.duration = min(asked, WaitCalculator.longest)
        self.reason = reason
    }
}

/// Reads the hints of an answer: `Retry-After` (RFC 9110, section 10.2.3), GitHub's `X-RateLimit-*` and
/// `X-Poll-Interval`, and limits that give no hint.
///
/// Points in time count from the answer's own `Date`, so that a wrong clock here does no harm; one second is added,
/// because all of these are whole seconds.
package enum WaitCalculator {
    /// No service makes a source wait longer at a time: an hour.
    package static let longest = Duration.seconds(3_600)
    private static let grain = Duration.seconds(1)
    /// The first wait for a limit without a hint; it doubles each time in a row.
    static let unhinted = Duration.seconds(60)

    /// The wait that an answer asks for before the same service is asked again; nil where it asks for none.
    /// - Parameters:
    ///   - now: the wall clock when the answer came, for answers without `Date`.
    ///   - unhintedBefore: limits without a hint that this service gave in a row before this one.
    ///   - message: the server's own words.
    package static func wait(
        status: Int, headers: HTTPHeaders, message: String, now: WallTime, unhintedBefore: Int = 0
    ) -> AskedWait? {
        // Read only where something counts from it: most answers ask for nothing.
        func date() -> WallTime { headers["Date"].flatMap(HTTPDate.parse) ?? now }
        let isRefusal = status == 403 || status == 429
        var found: AskedWait?
        if let asked = retryAfter(headers, date: date()) { found = AskedWait(asked + grain, .retryAfter) }
        if let asked = quotaReset(headers, date: date()), asked + grain > found?.asked ?? .zero {
            found = AskedWait(asked + grain, .quotaSpent)
        }
        if found != nil { return found }
        // Zero or garbage in Retry-After is no hint, and no reason for a long wait either: the node's policy decides.
        guard isRefusal, headers["Retry-After"] == nil, status == 429 || isSpent(headers) || speaksOfLimit(message)
        else {
            return nil
        }
        let doublings = min(max(unhintedBefore, 0), 10)
        return AskedWait(unhinted * (1 << doublings) + grain, .limitWithoutHint)
    }

    /// True where a 403 or 429 is a limit and not a refusal for good.
    package static func isLimit(status: Int, headers: HTTPHeaders, message: String) -> Bool {
        status == 429
            || (status == 403 && (headers["Retry-After"] != nil || isSpent(headers) || speaksOfLimit(message)))
    }

    /// `X-Poll-Interval`: the least time from this answer to the next poll; zero without one. At most an hour.
    package static func pollInterval(_ headers: HTTPHeaders) -> Duration {
        guard let text = headers["X-Poll-Interval"], let seconds = seconds(text) else { return .zero }
        return min(seconds, longest)
    }

    /// `X-RateLimit-Remaining: 0`, whatever the status: a 200 may be the last one that the quota allows.
    static func isSpent(_ headers: HTTPHeaders) -> Bool {
        headers["X-RateLimit-Remaining"].flatMap { Int(trimmed($0)) } == 0
    }

    /// A positive wait; nil for zero, a point in the past and garbage.
    private static func retryAfter(_ headers: HTTPHeaders, date: @autoclosure () -> WallTime) -> Duration? {
        guard let text = headers["Retry-After"] else { return nil }
        if let seconds = seconds(text) { return seconds > .zero ? seconds : nil }
        guard let end = HTTPDate.parse(text) else { return nil }
        let left = end - date()
        return left > .zero ? left : nil
    }

    /// From the answer to `X-RateLimit-Reset`, however much is left of the quota; nil where it is not said.
    static func timeToReset(_ headers: HTTPHeaders, now: WallTime) -> Duration? {
        reset(headers, date: headers["Date"].flatMap(HTTPDate.parse) ?? now)
    }

    private static func quotaReset(_ headers: HTTPHeaders, date: @autoclosure () -> WallTime) -> Duration? {
        isSpent(headers) ? reset(headers, date: date()) : nil
    }

    private static func reset(_ headers: HTTPHeaders, date: @autoclosure () -> WallTime) -> Duration? {
        guard let text = headers["X-RateLimit-Reset"], let value = Int64(trimmed(text)), value > 0 else { return nil }
        // GitHub sends Unix seconds. Others send the seconds that are left, or Unix milliseconds.
        let left: Duration
        switch value {
        case ..<100_000_000: left = .seconds(value)
        case ..<100_000_000_000: left = WallTime(seconds: value) - date()
        default: left = WallTime(seconds: value / 1_000) - date()
        }
        return left + grain > .zero ? max(left, .zero) : nil
    }

    private static func speaksOfLimit(_ message: String) -> Bool {
        let words = message.lowercased()
        return words.contains("rate limit") || words.contains("abuse detection")
    }

    /// Whole seconds (a fraction is rounded up); however many digits. Nil for other text.
    private static func seconds(_ text: String) -> Duration? {
        let text = trimmed(text)
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, !whole.isEmpty,
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
        else { return nil }
        let limit: Int64 = 1_000_000_000_000
        let value = min(Int64(whole) ?? limit, limit)
        return .seconds(parts.count == 2 && parts[1].contains { $0 != "0" } ? value + 1 : value)
    }

    private static func trimmed(_ text: String) -> Substring {
        let blank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        var rest = text.drop(while: blank)
        while let last = rest.last, blank(last) { rest.removeLast() }
        return rest
    }
}
