// feedbus: tests of redirects and redaction.

import FeedbusBase
import FeedbusTestKit
import Testing

@testable import FeedbusHTTP

@Suite struct RedirectTests {
    private func next(_ request: HTTPRequest, _ status: Int, _ location: String) throws -> HTTPRequest {
        try Redirects.next(after: request, at: HTTPURL(request.url), status: status, location: location).request
    }

    @Test(arguments: [
        ("/repositories/1", "http://h:8080/repositories/1"), ("c?x=1", "http://h:8080/a/c?x=1"),
        ("//g/x", "http://g/x"),
        ("../up", "http://h:8080/up"), ("http://g/a b", "http://g/a%20b"), ("?page=2", "http://h:8080/a/b?page=2"),
        ("https://g/#part", "https://g/"),
    ]) func targets(_ location: String, _ expected: String) throws {
        #expect(try next(HTTPRequest("http://h:8080/a/b?y"), 302, location).url == expected)
    }

    @Test(arguments: [
        (301, "GET", "GET"), (302, "POST", "GET"), (301, "POST", "GET"), (303, "POST", "GET"), (303, "PUT", "GET"),
        (303, "HEAD", "HEAD"), (307, "POST", "POST"), (308, "POST", "POST"), (302, "PUT", "PUT"),
    ]) func methods(_ status: Int, _ method: String, _ expected: String) throws {
        let request = HTTPRequest(
            "http://h/a", method: method, headers: ["Content-Type": "text/plain", "Accept": "x"],
            body: method == "GET" || method == "HEAD" ? nil : "body")
        let then = try next(request, status, "/b")
        #expect(then.method == expected)
        #expect((then.body == nil) == (expected == "GET" || expected == "HEAD"))
        #expect((then.headers["Content-Type"] == nil) == (method != "GET" && expected == "GET"))
        #expect(then.headers["Accept"] == "x")
    }

    @Test(arguments: [
        ("/b", true), ("http://h:8080/b", true), ("http://H:8080/b", true), ("http://h:8081/b", false),
        ("http://g:8080/b", false), ("https://h:8080/b", false), ("http://h:8080@g/b", false),
        ("http://h.g:8080/", false),
    ]) func credentialsStayWithTheirHost(_ location: String, _ kept: Bool) throws {
        let request = HTTPRequest(
            "http://h:8080/a", headers: ["authorization": "x", "Cookie": "y", "X-Api-Key": "z", "Accept": "a"],
            bearer: Secret("t"))
        let then = try next(request, 301, location)
        #expect((then.bearer != nil) == kept)
        for name in ["Authorization", "Cookie", "X-API-Key"] { #expect((then.headers[name] != nil) == kept) }
        #expect(then.headers["Accept"] == "a")
    }

    @Test(arguments: [(307, "POST"), (308, "POST"), (301, "PUT"), (302, "PATCH")])
    func aBodyStaysWithItsHost(_ status: Int, _ method: String) throws {
        let request = HTTPRequest(
            "http://h:8080/a", method: method, body: Bytes(#"{"q":"hi","api_key":"hush"}"#), secretQuery: ["api_key"])
        #expect {
            _ = try next(request, status, "http://h:8081/b?hush")
        } throws: { error in
            guard let error = error as? FeedbusError else { return false }
            return error.code == .httpRedirect && !error.isRetriable && error.message.contains("(http://h:8081)")
                && !error.message.contains("hush")
        }
        #expect(try next(request, status, "/b").body == request.body)
        #expect(try next(HTTPRequest("http://h/a", method: method, body: "x"), status, "https://h/b").body == "x")
    }

    @Test func aBodyIsNotSentOnEvenByASecondRedirect() throws {
        try Simulation.run { simulation in
            let bed = Bed(
                simulation, .answer(307, ["Location": "/here"]), .answer(308, ["Location": "http://g/"]), .answer(200))
            let error = await failure {
                try await bed.client().fetch(HTTPRequest(feed, method: "POST", body: "key=hush"), decode: text)
            }
            #expect(error?.code == .httpRedirect)
            #expect(bed.transport.requests.map(\.url) == [feed, "http://127.0.0.1:8080/here"])
        }
    }

    @Test func theStepToTLSKeepsThem() throws {
        #expect(try next(HTTPRequest("http://h/a", bearer: Secret("t")), 301, "https://h/a").bearer != nil)
    }

    @Test(arguments: ["ftp://h/", "file:///etc/passwd", "javascript:alert(1)", "gopher://h/"])
    func otherSchemesAreNotFollowed(_ location: String) throws {
        #expect {
            _ = try next(HTTPRequest("http://h/a"), 302, location)
        } throws: { error in
            let error = error as? FeedbusError
            return error?.code == .httpRedirect && error?.isRetriable == false
        }
    }

    @Test func aPermanentOneIsRememberedForTheRun() throws {
        try Simulation.run { simulation in
            let bed = Bed(
                simulation, .answer(301, ["Location": "http://localhost/new"]), .answer(302, ["Location": "/other"]),
                .answer(200), .answer(302, ["Location": "/other"]), .answer(200))
            let client = bed.client()
            for _ in 1...2 {
                let got = try await client.fetch(HTTPRequest(feed, bearer: Secret("t")), decode: text)
                #expect(got.response.url == "http://localhost/other")
            }
            #expect(
                bed.transport.requests.map(\.url) == [
                    feed, "http://localhost/new", "http://localhost/other", "http://localhost/new",
                    "http://localhost/other",
                ])
            #expect(bed.transport.requests.map { $0.bearer != nil } == [true, false, false, false, false])
        }
    }

    @Test func aPermanentOneThatLeadsToARefusalIsForgotten() throws {
        try Simulation.run { simulation in
            let bed = Bed(simulation, .answer(301, ["Location": "/login"]), .answer(403), .answer(200))
            let client = bed.client()
            let error = await failure { try await client.fetch(HTTPRequest(feed), decode: text) }
            #expect(error?.code == .httpStatus)
            _ = try await client.fetch(HTTPRequest(feed), decode: text)
            #expect(bed.transport.requests.map(\.url) == [feed, "http://127.0.0.1:8080/login", feed])
        }
    }

    /// A page to log in on, a server that has gone, a service that has not: the next request begins where it should.
    @Test(arguments: [
        ScriptedTransport.Step.answer(200, ["Content-Type": "text/html"], "<html>"), .answer(404), .answer(500),
        .answer(304), .failure(.httpConnect), .failure(.httpTLS), .answer(301, ["Location": "ftp://h/"]),
    ]) func permanentOnesThatLeadToTroubleAreForgottenAll(_ trouble: ScriptedTransport.Step) throws {
        try Simulation.run { simulation in
            // The first one is for now only: what it leads to must be forgotten as well.
            let bed = Bed(
                simulation, .answer(302, ["Location": "/a"]), .answer(301, ["Location": "/b"]),
                .answer(308, ["Location": "/c"]), trouble, .answer(302, ["Location": "/a"]), .answer(200))
            let client = bed.client(retry: RetryPolicy(attempts: 1, jitter: false))
            let decode: @Sendable (HTTPResponse) throws -> String = { answer in
                guard answer.body != "<html>" else { throw FeedbusError(.httpDecode, "no JSON") }
                return answer.body.string
            }
            _ = await failure { try await client.fetch(HTTPRequest(feed), decode: decode) }
            let before = bed.transport.count
            #expect(before == 4)
            _ = try await client.fetch(HTTPRequest(feed), decode: decode)
            #expect(bed.transport.requests.dropFirst(before).map(\.url) == [feed, "http://127.0.0.1:8080/a"])
        }
    }

    @Test func aCircleOfPermanentOnesIsForgotten() throws {
        try Simulation.run { simulation in
            let bed = Bed(
                simulation, .answer(302, ["Location": "/a"]), .answer(301, ["Location": "/b"]),
                .answer(301, ["Location": "/a"]), .answer(302, ["Location": "/b"]), .answer(200))
            let client = bed.client()
            let error = await failure { try await client.fetch(HTTPRequest(feed), decode: text) }
            #expect(error?.code == .httpRedirect)
            #expect(bed.transport.count == 3)
            _ = try await client.fetch(HTTPRequest(feed), decode: text)
            #expect(bed.transport.requests.suffix(2).map(\.url) == [feed, "http://127.0.0.1:8080/b"])
        }
    }

    @Test func aLimitIsNoReasonToForget() throws {
        try Simulation.run { simulation in
            let bed = Bed(
                simulation, .answer(301, ["Location": "/a"]), .answer(429, ["Retry-After": "5"]), .answer(200))
            _ = try await bed.client().fetch(HTTPRequest(feed), decode: text)
            #expect(
                bed.transport.requests.map(\.url) == [feed, "http://127.0.0.1:8080/a", "http://127.0.0.1:8080/a"])
        }
    }

    @Test func fiveAreFollowedAndNoMore() throws {
        try Simulation.run { simulation in
            let hop = ScriptedTransport.Step.answer(302, ["Location": "/x"])
            let five = Bed(simulation, hop, hop, hop, hop, hop, .answer(200))
            _ = try await five.client().fetch(HTTPRequest(feed), decode: text)
            #expect(five.transport.count == 6)
            let endless = Bed(simulation, .answer(301, ["Location": "/x"]))
            let error = await failure { try await endless.client().fetch(HTTPRequest(feed), decode: text) }
            #expect(error?.code == .httpRedirect)
            #expect(endless.transport.count <= 6)
        }
    }

    @Test func theTimeoutIsForAllHops() throws {
        try Simulation.run { simulation in
            let bed = Bed(simulation, takes: .seconds(4), .answer(302, ["Location": "/x"]), .answer(200))
            _ = try await bed.client().fetch(HTTPRequest(feed, timeout: .seconds(10)), decode: text)
            #expect(bed.transport.requests.map(\.timeout) == [.seconds(10), .seconds(6)])
        }
    }

    @Test func aRedirectWithoutALocationIsARefusal() throws {
        try Simulation.run { simulation in
            let bed = Bed(simulation, .answer(302))
            let error = await failure { try await bed.client().fetch(HTTPRequest(feed), decode: text) }
            #expect(error?.code == .httpStatus)
        }
    }

    @Test(arguments: [
        ("http://h/a?key=1&b=2", "http://h/a?key=REDACTED&b=2"), ("http://u:p@h/a", "http://h/a"),
        ("http://h/a?b=u@p://key=1", "http://h/a?b=u@p://key=1"),
        ("http://h/a?k%65y=1#key=2", "http://h/a?k%65y=REDACTED#key=2"),
        ("/x?key=1", "/x?key=REDACTED"), ("http://h/a?key", "http://h/a?key=REDACTED"), ("", ""),
    ]) func shownURLs(_ url: String, _ expected: String) {
        #expect(Redaction.url(url, secretQuery: ["key"]) == expected)
    }

    @Test(arguments: [#"{"q":"hi","api_key":"hush"}"#, "q=hi&api_key=hush", "api_key=h%75sh"])
    func aServiceThatQuotesAKeyOfTheBody(_ body: String) {
        let request = HTTPRequest("http://h/", body: Bytes(body), secretQuery: ["api_key"])
        #expect(Redaction.text("bad key hush", of: request) == "bad key REDACTED")
    }

    @Test(arguments: [
        (#"{"q":"hi","api_key":"hush"}"#, #"{"q":"hi","api_key":"REDACTED"}"#),
        ("q=http://x/&api_key=hush", "q=http://x/&api_key=REDACTED"), (#"["hush"]"#, #"["hush"]"#),
    ]) func shownBodies(_ body: String, _ expected: String) {
        let request = HTTPRequest("http://h/", secretQuery: ["api_key"])
        #expect(Redaction.body(Bytes(body), of: request).string == expected)
    }
}
