// feedbus: tests of what an answer means.

import FeedbusBase
import Testing

@testable import FeedbusHTTP

@Suite struct VerdictTests {
    private func verdict(
        _ status: Int, _ headers: HTTPHeaders = [:], _ message: String = "", conditional: Bool = false,
        accepted: Set<Int> = []
    ) -> Verdict {
        let wait = WaitCalculator.wait(
            status: status, headers: headers, message: message, now: WallTime(seconds: 1_772_366_400))
        return Verdict(
            status: status, headers: headers, message: message, isConditional: conditional, accepted: accepted,
            wait: wait)
    }

    @Test(
        arguments: [
            (200, .success), (201, .success), (204, .success), (300, .refused), (301, .refused), (400, .refused),
            (401, .refused), (403, .refused), (404, .refused), (408, .transient), (410, .refused), (422, .refused),
            (429, .limited), (451, .refused), (500, .transient), (502, .transient), (503, .transient),
            (504, .transient),
            (520, .transient), (304, .uninvited),
        ] as [(Int, Verdict)]) func ofABareStatus(_ status: Int, _ expected: Verdict)
    {
        #expect(verdict(status) == expected)
    }

    @Test func ofAnswersWithHints() {
        #expect(verdict(304, conditional: true) == .notModified)
        #expect(verdict(422, accepted: [422]) == .success)
        #expect(verdict(403, ["Retry-After": "3"]) == .limited)
        #expect(verdict(403, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1772366500"]) == .limited)
        #expect(verdict(403, [:], "API Rate Limit Exceeded for 198.51.100.119") == .limited)
        #expect(verdict(403, ["X-RateLimit-Remaining": "17"], "Bad credentials") == .refused)
        // No usable hint: the node's policy.
        #expect(verdict(429, ["Retry-After": "0"]) == .transient)
        #expect(verdict(403, ["Retry-After": "later"]) == .transient)
        // A server error that names its end is waited for, but it is an attempt.
        #expect(verdict(503, ["Retry-After": "3"]) == .transient)
    }

    @Test(arguments: [
        (#"{"message":"Bad credentials"}"#, "application/json", "Bad credentials"),
        (#"{"error":"Server Error"}"#, "application/json", "Server Error"),
        (#"{"error":{"code":400,"message":"API key not valid"}}"#, "application/json", "API key not valid"),
        (#"{"errors":[]}"#, "application/json", ""),
        ("\"a string\"", "application/json", "a string"),
        ("\n\n  Slow   down\nplease", "text/plain", "Slow down"),
        ("<html><head><title>Bad Gateway</title></head></html>", "text/html", "Bad Gateway"),
        (
            "<html><body><h1>503 Service Unavailable</h1>No server is available.</body></html>", "",
            "503 Service Unavailable No server is available."
        ),
        ("", "", ""),
    ]) func theServersOwnWords(_ body: String, _ type: String, _ expected: String) {
        let response = HTTPResponse(status: 500, headers: ["Content-Type": type], body: Bytes(body), url: feed)
        #expect(ServerMessage.find(in: response, to: HTTPRequest("http://h/")) == expected)
    }

    @Test func longWordsAreCut() {
        let response = HTTPResponse(status: 500, body: Bytes(String(repeating: "x", count: 100_000)), url: feed)
        #expect(ServerMessage.find(in: response, to: HTTPRequest("http://h/")).count == 201)
    }
}
