// feedbus: tests of how waits are read from answers.

import FeedbusBase
import Testing

@testable import FeedbusHTTP

@Suite struct WaitCalculatorTests {
    /// 12:00:00 by the service's clock; ours is three hours wrong.
    private static let date = "Sun, 01 Mar 2026 12:00:00 GMT"
    private static let epoch = 1_772_366_400
    private static let wrongNow = WallTime(seconds: 1_772_366_400 + 3 * 3_600)

    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var status = 429
        var headers: HTTPHeaders
        var message = ""
        var before = 0
        /// Seconds; nil: no wait.
        var seconds: Int64?
        var reason: AskedWait.Reason = .retryAfter
        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case(name: "seconds, one more for the grain", headers: ["Retry-After": "3"], seconds: 4),
        Case(name: "seconds with blanks", headers: ["Retry-After": " 3 "], seconds: 4),
        Case(name: "a fraction is rounded up", headers: ["retry-after": "1.5"], seconds: 3),
        Case(name: "a 503 too", status: 503, headers: ["Retry-After": "120"], seconds: 121),
        Case(name: "a 200 too", status: 200, headers: ["Retry-After": "120"], seconds: 121),
        Case(name: "zero is no hint", headers: ["Retry-After": "0"], seconds: nil),
        Case(name: "negative is garbage", headers: ["Retry-After": "-5"], seconds: nil),
        Case(name: "words are garbage", headers: ["Retry-After": "soon, I hope"], seconds: nil),
        Case(name: "a broken date is garbage", headers: ["Retry-After": "Mon, 99 Foo 2026"], seconds: nil),
        Case(name: "empty is garbage", headers: ["Retry-After": ""], seconds: nil),
        Case(
            name: "garbage on a 403 about a limit", status: 403, headers: ["Retry-After": "x"], message: "rate limit",
            seconds: nil),
        Case(
            name: "a date, by the service's clock",
            headers: ["Retry-After": "Sun, 01 Mar 2026 12:00:04 GMT", "Date": date], seconds: 5),
        Case(
            name: "a date without Date: by our clock",
            headers: ["Retry-After": "Sun, 01 Mar 2026 15:00:04 GMT"], seconds: 5),
        Case(
            name: "an obsolete date", headers: ["Retry-After": "Sunday, 01-Mar-26 12:00:09 GMT", "Date": date],
            seconds: 10),
        Case(
            name: "a date that is past", headers: ["Retry-After": "Sun, 01 Mar 2026 11:00:00 GMT", "Date": date],
            seconds: nil),
        Case(name: "an absurd wait", headers: ["Retry-After": "1000000000"], seconds: 3_600),
        Case(
            name: "more digits than an integer has", headers: ["Retry-After": "99999999999999999999999"], seconds: 3_600
        ),
        Case(
            name: "a spent quota", status: 403,
            headers: ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "\(epoch + 4)", "Date": date], seconds: 5,
            reason: .quotaSpent),
        Case(
            name: "a spent quota on a 200", status: 200,
            headers: ["x-ratelimit-remaining": "0", "x-ratelimit-reset": "\(epoch + 4)", "date": date], seconds: 5,
            reason: .quotaSpent),
        Case(
            name: "a quota that is not spent", status: 403,
            headers: ["X-RateLimit-Remaining": "1", "X-RateLimit-Reset": "\(epoch + 4)", "Date": date], seconds: nil),
        Case(
            name: "seconds left in place of a time", status: 403,
            headers: ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "30", "Date": date], seconds: 31,
            reason: .quotaSpent),
        Case(
            name: "milliseconds in place of seconds", status: 403,
            headers: ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "\(epoch + 4)000", "Date": date], seconds: 5,
            reason: .quotaSpent),
        Case(
            name: "a reset this very second", status: 403,
            headers: ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "\(epoch)", "Date": date], seconds: 1,
            reason: .quotaSpent),
        Case(
            name: "a reset that is long past helps nobody", status: 403,
            headers: ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "\(epoch - 100)", "Date": date], seconds: 61,
            reason: .limitWithoutHint),
        Case(
            name: "a reset that is past, on a 200", status: 200,
            headers: ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "\(epoch - 100)", "Date": date], seconds: nil),
        Case(
            name: "the longer of two waits", status: 403,
            headers: [
                "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "\(epoch + 100)", "Retry-After": "7", "Date": date,
            ],
            seconds: 101, reason: .quotaSpent),
        Case(
            name: "a secondary limit with a hint", status: 403,
            headers: ["X-RateLimit-Remaining": "4000", "Retry-After": "3", "Date": date],
            message: "secondary rate limit",
            seconds: 4),
        Case(
            name: "a secondary limit without one", status: 403, headers: ["X-RateLimit-Remaining": "4000"],
            message: "You have exceeded a secondary rate limit.", seconds: 61, reason: .limitWithoutHint),
        Case(
            name: "it doubles", status: 403, headers: [:], message: "an abuse detection mechanism", before: 2,
            seconds: 241,
            reason: .limitWithoutHint),
        Case(name: "up to an hour", status: 429, headers: [:], before: 50, seconds: 3_600, reason: .limitWithoutHint),
        Case(name: "a bare 429", status: 429, headers: [:], seconds: 61, reason: .limitWithoutHint),
        Case(
            name: "a plain 403", status: 403, headers: ["X-RateLimit-Remaining": "4999"], message: "Not accessible",
            seconds: nil),
        Case(name: "a plain 500", status: 500, headers: [:], message: "rate limit", seconds: nil),
    ]

    @Test(arguments: cases) func waitOfAnAnswer(_ one: Case) {
        let wait = WaitCalculator.wait(
            status: one.status, headers: one.headers, message: one.message, now: Self.wrongNow,
            unhintedBefore: one.before)
        #expect(wait?.duration == one.seconds.map { .seconds($0) })
        if let wait { #expect(wait.reason == one.reason) }
    }

    @Test func aCappedWaitSaysSo() throws {
        let wait = try #require(
            WaitCalculator.wait(status: 429, headers: ["Retry-After": "1000000000"], message: "", now: Self.wrongNow))
        #expect(wait.isCapped)
        #expect(wait.asked == .seconds(1_000_000_001))
    }

    @Test(arguments: [
        ("60", 60), ("0", 0), ("", 0), ("-1", 0), ("soon", 0), ("100000", 3_600),
    ]) func pollInterval(_ text: String, _ seconds: Int) {
        #expect(WaitCalculator.pollInterval(["X-Poll-Interval": text]) == .seconds(seconds))
    }

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Sun, 06 Nov 1994 08:49:37 UTC", 784_111_777),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Sat, 29 Feb 2020 23:59:60 GMT", 1_583_020_799),
            ("Sun, 30 Feb 2020 00:00:00 GMT", nil), ("Sun, 06 Nov 1994 08:49:37 PST", nil),
            ("06 Nov 1994 08:49:37 GMT", nil),
            ("Sun, 06 Nov 1994 08:49 GMT", nil), ("", nil), ("Mon, 99 Foo 2026", nil),
            ("Sun, +6 Nov 1994 08:49:37 GMT", nil),
        ] as [(String, Int64?)]) func httpDates(_ text: String, _ seconds: Int64?)
    {
        #expect(HTTPDate.parse(text)?.seconds == seconds)
    }
}
