// feedbus: tests of the polite client over a scripted transport, under virtual time.

import FeedbusBase
import FeedbusTestKit
import Testing

@testable import FeedbusHTTP

@Suite struct PoliteClientTests {
    // MARK: - Validators

    @Test func validatorsFollowEveryAnswer() throws {
        try Simulation.run { simulation in
            let bed = Bed(
                simulation, .answer(200, ["ETag": "\"e1\"", "Last-Modified": "then"]), .answer(304, ["ETag": "\"e2\""]),
                .answer(304), .answer(200, ["ETag": "\"e3\""]), .answer(304))
            let client = bed.client()
            var kept: Validators?
            var outcomes: [Bool] = []
            for _ in 1...5 {
                let got = try await client.fetch(HTTPRequest(feed), validators: kept, decode: text)
                kept = got.validators
                outcomes.append(got.value != nil)
            }
            #expect(
                bed.transport.requests.map { $0.headers["If-None-Match"] } == [
                    nil, "\"e1\"", "\"e2\"", "\"e2\"", "\"e3\"",
                ])
            #expect(bed.transport.requests.allSatisfy { $0.headers["If-Modified-Since"] == nil })
            #expect(outcomes == [true, false, false, true, false])
            #expect(bed.ledger.counts.notModified == 3)
        }
    }

    @Test func aStuckValidatorIsFoundOut() throws {
        try Simulation.run { simulation in
            let bed = Bed(
                simulation, .answer(200, ["ETag": "\"a\""]), .answer(304), .answer(304), .answer(304),
                .answer(200, ["ETag": "\"a\""], "[1]"), .answer(304))
            let client = bed.client().with(revalidateAfter: 3)
            var kept: Validators?
            var withheld: [Bool] = []
            for _ in 1...6 {
                let got = try await client.fetch(HTTPRequest(feed), validators: kept, decode: text)
                kept = got.validators
                withheld.append(got.isRevalidation)
                if got.isRevalidation, got.value == "[1]" { client.reportStuckValidator(feed) }
            }
            #expect(withheld == [false, false, false, false, true, false])
            #expect(
                bed.transport.requests.map { $0.headers["If-None-Match"] != nil } == [
                    false, true, true, true, false, true,
                ])
            #expect(bed.lines.messages(.warning).count == 1)
            #expect(bed.lines.messages(.warning)[0].contains("stuck validator"))
            #expect(bed.ledger.counts.stuckValidators == 1)
        }
    }

    @Test func a304ThatNobodyAskedForIsAProtocolError() throws {
        try Simulation.run { simulation in
            let bed = Bed(simulation, .answer(304))
            let error = await failure { try await bed.client().fetch(HTTPRequest(feed), decode: text) }
            #expect(error?.code == .httpProtocol)
            #expect(bed.transport.count == 3)
        }
    }

    @Test func anUnusableAnswerIsRetriedAndItsValidatorsAreNotKept() throws {
        try Simulation.run { simulation in
            let bed = Bed(simulation, .answer(200, ["ETag": "\"bad\""], "{"), .answer(200, ["ETag": "\"good\""], "[]"))
            let got = try await bed.client().fetch(
                HTTPRequest(feed),
                validators: Validators(etag: "\"old\"", lastModified: nil, lastFull: simulation.clock.wallTime)
            ) { response -> Int in
                guard response.body == "[]" else { throw FeedbusError(FeedbusError.Code("x"), "not a list") }
                return 1
            }
            #expect(got.validators.etag == "\"good\"")
            #expect(bed.transport.requests.map { $0.headers["If-None-Match"] } == ["\"old\"", "\"old\""])
            let never = await failure {
                try await bed.client("b").fetch(HTTPRequest(feed)) { _ in
                    throw FeedbusError(FeedbusError.Code("x"), "not a list")
                }
            }
            #expect(never?.code == .httpDecode)
            #expect(never?.message.contains("not a list") == true)
            #expect(never?.isRetriable == true)
        }
    }

    // MARK: - Retrying

    @Test func serverErrorsAreRetriedByTheNodesPolicy() throws {
        try Simulation.run { simulation in
            let bed = Bed(
                simulation, .answer(500), .failure(.httpReset), .answer(502), .failure(.httpTimeout),
                .failure(.httpDNS),
                .answer(408), .answer(200))
            let retry = RetryPolicy(attempts: 10, base: .milliseconds(200), cap: .seconds(1), jitter: false)
            _ = try await bed.client(retry: retry).fetch(HTTPRequest(feed), decode: text)
            #expect(bed.transport.times == [0, 0.2, 0.6, 1.4, 2.4, 3.4, 4.4])
            #expect(bed.ledger.counts.retries == 6)
        }
    }

    @Test func attemptsRunOut() throws {
        try Simulation.run { simulation in
            let bed = Bed(simulation, .answer(503, ["Content-Type": "text/html"], "<h1>Sorry</h1>"))
            let error = await failure { try await bed.client().fetch(HTTPRequest(feed), decode: text) }
            #expect(bed.transport.count == 3)
            #expect(error?.isRetriable == true)
            #expect(error?.message == "GET \(feed): 503 Service Unavailable: \"Sorry\" (3 attempts)")
        }
    }

    @Test(arguments: [401, 403, 404, 410, 422, 400, 451]) func refusalsAreOneClearError(_ status: Int) throws {
        try Simulation.run { simulation in
            let token = "ghp_Secret0123456789"
            let bed = Bed(
                simulation,
                .answer(status, ["X-RateLimit-Remaining": "4999"], "{\"message\":\"no \(token) here\"}".bytes))
            var request = HTTPRequest(feed + "?key=hush&page=2", bearer: Secret(token), secretQuery: ["key"])
            request.headers["Accept"] = "application/json"
            let sent = request
            let error = await failure { try await bed.client().fetch(sent, decode: text) }
            #expect(bed.transport.count == 1)
            #expect(error?.isRetriable == false)
            let message = error?.message ?? ""
            #expect(message.contains(feed + "?key=REDACTED&page=2"))
            #expect(message.contains("\(status)") && message.contains("no REDACTED here"))
            #expect(!message.contains("hush") && !message.contains(token))
        }
    }

    @Test func anAcceptedStatusIsDecodedAndSaysNothingAboutTheValidators() throws {
        try Simulation.run { simulation in
            let bed = Bed(simulation, .answer(422, ["ETag": "\"error\""], "{}"))
            let kept = Validators(etag: "\"a\"", lastModified: nil, lastFull: simulation.clock.wallTime)
            let got = try await bed.client().fetch(HTTPRequest(feed), validators: kept, accept: [422], decode: \.status)
            #expect(got.value == 422)
            #expect(got.validators == kept)
        }
    }

    // MARK: - Waiting as asked

    @Test func aLimitIsWaitedForAndUsesUpNoAttempt() throws {
        try Simulation.run { simulation in
            let limited = ScriptedTransport.Step.answer(429, ["Retry-After": "3"], "{\"message\":\"slow down\"}")
            let bed = Bed(simulation, limited, limited, limited, limited, .answer(200))
            _ = try await bed.client(retry: RetryPolicy(attempts: 1)).fetch(HTTPRequest(feed), decode: text)
            #expect(bed.transport.times == [0, 4, 8, 12, 16])
            #expect(bed.ledger.counts.limits == 4)
        }
    }

    @Test func aServerErrorThatNamesItsEndIsAnAttempt() throws {
        try Simulation.run { simulation in
            let bed = Bed(
                simulation,
                .answer(
                    503, ["Retry-After": "Sun, 01 Mar 2026 12:00:04 GMT", "Date": "Sun, 01 Mar 2026 12:00:00 GMT"]),
                .answer(503, ["Retry-After": "2"]), .answer(503, ["Retry-After": "30"]))
            let error = await failure { try await bed.client().fetch(HTTPRequest(feed), decode: text) }
            #expect(bed.transport.times == [0, 5, 8])
            #expect(error?.isRetriable == true)
            // The last wait holds for whoever comes next.
            _ = await failure {
                try await bed.client("b", retry: RetryPolicy(attempts: 1)).fetch(HTTPRequest(feed), decode: text)
            }
            #expect(bed.transport.times.last == 39)
        }
    }

    @Test func garbageInRetryAfterMeansThePolicy() throws {
        try Simulation.run { simulation in
            let bed = Bed(
                simulation, .answer(503, ["Retry-After": "soon"]), .answer(429, ["Retry-After": "0"]), .answer(200))
            _ = try await bed.client().fetch(HTTPRequest(feed), decode: text)
            #expect(bed.transport.times == [0, 1, 3])
        }
    }

    @Test func anAbsurdWaitIsCappedAndAnnounced() throws {
        try Simulation.run { simulation in
            let bed = Bed(simulation, .answer(429, ["Retry-After": "1000000000"]), .answer(200))
            _ = try await bed.client().fetch(HTTPRequest(feed), decode: text)
            #expect(bed.transport.times == [0, 3_600])
            let warnings = bed.lines.messages(.warning)
            #expect(warnings.count == 2)
            #expect(warnings[0].contains("maximum of 1h instead"))
            #expect(warnings[1].contains("waits 60 min for http://127.0.0.1:8080"))
            #expect(warnings[1].contains("Retry-After"))
            #expect(warnings[1].contains("2026-03-01T13:00:00Z"))
        }
    }

    @Test func secondaryLimitsDoubleUntilOneGoesThrough() throws {
        try Simulation.run { simulation in
            let limited = ScriptedTransport.Step.answer(
                403, ["X-RateLimit-Remaining": "4000"], "{\"message\":\"You have exceeded a secondary rate limit.\"}")
            let bed = Bed(simulation, limited, limited, limited, .answer(200), limited, .answer(200))
            let client = bed.client()
            _ = try await client.fetch(HTTPRequest(feed), decode: text)
            _ = try await client.fetch(HTTPRequest(feed), decode: text)
            #expect(bed.transport.times == [0, 61, 182, 423, 423, 484])
        }
    }

    @Test func aBudgetIsSharedByServiceAndCredential() throws {
        try Simulation.run { simulation in
            let bed = Bed(
                simulation,
                .answer(
                    200,
                    [
                        "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "\(Bed.epoch + 100)",
                        "X-RateLimit-Resource": "core", "Date": Bed.date,
                    ]),
                .answer(200))
            let got = try await bed.client("a").fetch(HTTPRequest(feed), decode: text)
            #expect(got.minimumWait == .seconds(101))
            let elsewhere = "http://localhost:8080/repos/b/b/events"
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (url, bearer, resource) in [
                    (feed, nil, "core"), (feed + "?page=2", nil, "core"), (feed, "token", "core"),
                    (feed, nil, "search"),
                    (elsewhere, nil, "core"),
                ] {
                    group.addTask(executorPreference: simulation.loop) {
                        _ = try await bed.client(url).fetch(
                            HTTPRequest(url, bearer: bearer.map { Secret($0) }), resource: resource, decode: text)
                    }
                }
                try await group.waitForAll()
            }
            #expect(bed.transport.times == [0, 0, 0, 0, 101, 101])
            #expect(bed.transport.requests.suffix(2).allSatisfy { $0.bearer == nil && $0.url.hasPrefix(feed) })
            // Each source that waits says so, once.
            #expect(bed.lines.messages(.warning).count == 2)
        }
    }

    @Test func failingEndpointsBackOffTogetherAndOthersGoOn() throws {
        try Simulation.run { simulation in
            let clock = simulation.clock
            let bed = Bed(simulation, .answer(500))
            let healthy = PoliteClient(
                transport: ScriptedTransport([.answer(200)], clock: clock), ledger: bed.ledger, retry: RetryPolicy(),
                clock: clock, log: .silent, seed: 9)
            let retry = RetryPolicy(attempts: 4, base: .seconds(1), cap: .seconds(60), jitter: false)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for node in ["a", "b", "c"] {
                    group.addTask(executorPreference: simulation.loop) {
                        _ = await failure {
                            try await bed.client(node, retry: retry).fetch(HTTPRequest(feed + "/" + node), decode: text)
                        }
                    }
                }
                try await clock.sleep(for: .milliseconds(500))
                _ = try await healthy.fetch(HTTPRequest(feed + "/healthy"), decode: text)
                #expect(clock.now == Instant(nanoseconds: 500_000_000))
                try await group.waitForAll()
            }
            // Rounds of all three, further and further apart.
            #expect(bed.transport.times == [0, 0, 0, 1, 1, 1, 3, 3, 3, 7, 7, 7])
        }
    }

    @Test func cancellationEndsALongWaitAtOnce() throws {
        try Simulation.run { simulation in
            let bed = Bed(
                simulation,
                .answer(
                    403, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "\(Bed.epoch + 3_000)", "Date": Bed.date]))
            let client = bed.client()
            let task = Task(executorPreference: simulation.loop) {
                try await client.fetch(HTTPRequest(feed), decode: text)
            }
            try await simulation.clock.sleep(for: .seconds(2))
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(simulation.clock.now == Instant(nanoseconds: 2_000_000_000))
            #expect(bed.transport.count == 1)
        }
    }

    @Test func pollIntervalAndQuotaAreForTheNextPoll() throws {
        try Simulation.run { simulation in
            let bed = Bed(
                simulation, .answer(200, ["X-Poll-Interval": "60"]), .answer(304, ["X-Poll-Interval": "90"]),
                .answer(200, ["Retry-After": "120"]))
            let client = bed.client()
            let kept = Validators(etag: "\"a\"", lastModified: nil, lastFull: simulation.clock.wallTime)
            var waits: [Duration] = []
            for _ in 1...3 {
                waits.append(try await client.fetch(HTTPRequest(feed), validators: kept, decode: text).minimumWait)
            }
            #expect(waits == [.seconds(60), .seconds(90), .seconds(121)])
            // None of them closed the service.
            #expect(simulation.clock.now == Instant(nanoseconds: 0))
        }
    }

    @Test func nobodyIsSparedByWaitingForARecording() throws {
        try Simulation.run { simulation in
            let bed = Bed(
                simulation, recorded: true, .answer(429, ["Retry-After": "3000"]),
                .answer(
                    200,
                    ["X-Poll-Interval": "60", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "\(Bed.epoch + 100)"]))
            let got = try await bed.client().fetch(HTTPRequest(feed), decode: text)
            #expect(got.response.recorded && got.minimumWait == .zero)
            #expect(bed.transport.times == [0, 1])
        }
    }

    @Test func aRecordedLimitDoesNotGoOnForEver() throws {
        try Simulation.run { simulation in
            let bed = Bed(simulation, recorded: true, .answer(429, ["Retry-After": "3000"]))
            let error = await failure { try await bed.client().fetch(HTTPRequest(feed), decode: text) }
            #expect(error?.code == .httpStatus)
            #expect(bed.transport.count == 3)
        }
    }

    @Test(arguments: ["", "example.org", "ftp://example.org/", "http://", "file:///etc/passwd"])
    func whatIsNoURLIsAnError(_ url: String) throws {
        try Simulation.run { simulation in
            let bed = Bed(simulation, .answer(200))
            let error = await failure { try await bed.client().fetch(HTTPRequest(url), decode: text) }
            #expect(error?.code == .httpURL)
            #expect(bed.transport.count == 0)
        }
    }
}
