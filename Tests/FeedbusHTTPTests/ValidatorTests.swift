// feedbus: tests of validators.

import FeedbusBase
import Testing

@testable import FeedbusHTTP

@Suite struct ValidatorTests {
    private let now = WallTime(seconds: 1_772_366_400)

    private func validators(_ etag: String?, _ date: String? = nil, inARow: Int = 0) -> Validators {
        Validators(etag: etag, lastModified: date, notModifiedInARow: inARow, lastFull: now)
    }

    @Test func anETagGoesBeforeADate() {
        var headers = HTTPHeaders()
        validators("W/\"a\"", "Sun, 01 Mar 2026 12:00:00 GMT").apply(to: &headers)
        #expect(headers.fields == [.init(name: "If-None-Match", value: "W/\"a\"")])
    }

    @Test func aDateGoesAlone() {
        var headers = HTTPHeaders()
        validators(nil, "Sun, 01 Mar 2026 12:00:00 GMT").apply(to: &headers)
        #expect(headers.fields == [.init(name: "If-Modified-Since", value: "Sun, 01 Mar 2026 12:00:00 GMT")])
    }

    @Test(
        arguments: [
            // Kept, received with the 304, then kept
            ("\"a\"", nil, "\"a\""), ("\"a\"", "\"b\"", "\"b\""), ("W/\"a\"", "\"a\"", "W/\"a\""),
            ("\"a\"", "W/\"a\"", "\"a\""),
            ("W/\"a\"", "W/\"b\"", "W/\"b\""), (nil, "\"b\"", "\"b\""), (nil, nil, nil),
        ] as [(String?, String?, String?)]) func etagAfterNotModified(
            _ kept: String?, _ received: String?, _ expected: String?
        )
    {
        var headers = HTTPHeaders()
        headers["ETag"] = received
        let next = validators(kept, "then", inARow: 4).afterNotModified(headers)
        #expect(next.etag == expected)
        #expect(next.lastModified == "then")
        #expect(next.notModifiedInARow == 5)
        #expect(next.lastFull == now)
    }

    @Test func aWholeAnswerReplacesEverything() {
        let next = Validators(of: ["etag": "\"b\""], now: now)
        #expect(next == validators("\"b\""))
        #expect(Validators(of: [:], now: now).isEmpty)
    }

    @Test func revalidationIsDue() {
        #expect(!validators("\"a\"", inARow: 2).areDueForRevalidation(after: 3, now: now))
        #expect(validators("\"a\"", inARow: 3).areDueForRevalidation(after: 3, now: now))
        #expect(!validators("\"a\"").areDueForRevalidation(after: 30, now: now + .seconds(3_599)))
        #expect(validators("\"a\"").areDueForRevalidation(after: 30, now: now + .seconds(3_600)))
        #expect(!validators("\"a\"").areDueForRevalidation(after: 30, now: now + .seconds(-7_200)))
        #expect(!validators(nil, inARow: 99).areDueForRevalidation(after: 3, now: now))
    }

    @Test func theyComeBackFromTheirText() {
        for one in [validators("W/\"a\\\"\u{1F600}\"", "Sun, 01 Mar 2026 12:00:00 GMT", inARow: 7), validators(nil)] {
            #expect(Validators(json: one.json) == one)
        }
        for text in ["", "{}", "[]", "null", "{\"notModified\":1}", "{\"notModified\":1,\"lastFull\":\"yesterday\"}"] {
            #expect(Validators(json: Bytes(text)) == nil)
        }
    }
}
