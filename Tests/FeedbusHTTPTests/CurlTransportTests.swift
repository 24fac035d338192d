// feedbus: tests of libcurl on the loop, against a real service.

import FeedbusBase
import FeedbusJSON
import FeedbusLoop
import Testing

@testable import FeedbusHTTP

@Suite(.timeLimit(.minutes(2))) struct CurlTransportTests {
    // MARK: - Requests and answers

    @Test func aRequestArrivesAsItWasMade() async throws {
        try await LocalService.withTransport { transport, service, _ in
            let request = HTTPRequest(
                service.url + "/echo?a=1&b=%20#part", method: "POST",
                headers: ["Content-Type": "application/json", "X-Empty": ""], body: "{\"q\":1}",
                bearer: Secret("t0ken"))
            let response = try await transport.send(request)
            #expect(response.status == 200 && !response.recorded && response.url == request.url)
            #expect(response.headers.all("X-TWO") == ["a", "b"])
            #expect(response.headers["x-empty"] == "")
            let echo = try JSON.parse(response.body)
            #expect(echo["method"]?.string == "POST")
            #expect(echo["path"]?.string == "/echo?a=1&b=%20")
            #expect(echo["body"]?.string == "{\"q\":1}")
            var headers = HTTPHeaders()
            for pair in try #require(echo["headers"]).elements {
                let parts = pair.elements.map { $0.string ?? "" }
                headers.append(parts[0], parts[1])
            }
            #expect(headers["User-Agent"] == "feedbus/test")
            #expect(headers["Authorization"] == "Bearer t0ken")
            #expect(headers.all("Content-Type") == ["application/json"])
            #expect(headers["X-Empty"] == "")
            #expect(headers["Expect"] == nil)
            #expect(headers["Accept-Encoding"]?.contains("gzip") == true)
        }
    }

    @Test(arguments: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]) func methods(_ method: String) async throws {
        try await LocalService.withTransport { transport, service, _ in
            let response = try await transport.send(
                HTTPRequest(service.url + "/echo", method: method, headers: ["User-Agent": "own"]))
            #expect(response.status == 200)
            #expect(response.body.isEmpty == (method == "HEAD"))
            if method != "HEAD" { #expect(try JSON.parse(response.body)["method"]?.string == method) }
        }
    }

    @Test(arguments: [204, 304, 301, 404, 500, 503]) func anyStatusIsAnAnswer(_ status: Int) async throws {
        try await LocalService.withTransport { transport, service, _ in
            let response = try await transport.send(HTTPRequest(service.url + "/status/\(status)"))
            #expect(response.status == status && response.headers["etag"] == "\"e\"")
        }
    }

    @Test(arguments: ["size/0", "size/100000", "gzip/100000", "deflate/100000", "chunked/100000", "interim"])
    func bodies(_ path: String) async throws {
        try await LocalService.withTransport { transport, service, _ in
            let response = try await transport.send(HTTPRequest(service.url + "/" + path))
            let size = Int(path.split(separator: "/").last!) ?? 4
            #expect(response.status == 200 && response.body.count == size)
            #expect(response.headers["X-Trailer"] == nil && response.headers["Link"] == nil)
        }
    }

    @Test func aHeaderWithALineBreakIsNotSent() async throws {
        try await LocalService.withTransport { transport, service, _ in
            for request in [
                HTTPRequest(service.url + "/echo", headers: ["X": "a\r\nHost: evil"]),
                HTTPRequest(service.url + "/echo", headers: ["X\nY": "a"]),
                HTTPRequest(service.url + "/echo", bearer: Secret("a\nb")),
            ] {
                let error = await failure { try await transport.send(request) }
                #expect(error?.code.name == "http.header" && error?.isRetriable == false)
            }
            // The handle that was taken for them is as good as new.
            let next = try await transport.send(HTTPRequest(service.url + "/echo"))
            #expect(next.status == 200)
        }
    }

    // MARK: - Connections

    @Test func connectionsAreKeptAndDeadOnesReplaced() async throws {
        try await LocalService.withTransport { transport, service, _ in
            func port() async throws -> Int? {
                try JSON.parse(try await transport.send(HTTPRequest(service.url + "/echo")).body)["port"]?.int
            }
            let first = try await port()
            for _ in 1...5 {
                let again = try await port()
                #expect(again == first)
            }
            // The service closes this one without a word; the next request must not fail for it.
            for _ in 1...5 {
                #expect(try await transport.send(HTTPRequest(service.url + "/close")).status == 200)
                #expect(try await port() != nil)
            }
        }
    }

    /// The service closes a kept connection just when it gets the next request, with a FIN or a reset.
    @Test(arguments: ["once", "once-reset"], ["GET", "HEAD", "PUT", "DELETE"])
    func aRequestThatMeetsTheEndOfAKeptConnectionIsSentAgain(_ path: String, _ method: String) async throws {
        try await LocalService.withTransport { transport, service, _ in
            for _ in 1...10 {
                let first = try await transport.send(HTTPRequest(service.url + "/\(path)/1"))
                let body: Bytes? = method == "PUT" ? "once" : nil
                let second = try await transport.send(HTTPRequest(service.url + "/echo", method: method, body: body))
                #expect(first.status == 200 && second.status == 200)
                guard method != "HEAD" else { continue }
                let echo = try JSON.parse(second.body)
                #expect(echo["port"]?.int != Int(first.body.string))
                #expect(echo["body"]?.string == body?.string ?? "")
            }
        }
    }

    /// libcurl itself gives up after six connections.
    @Test func manyDeadConnectionsAreOneRepeat() async throws {
        try await LocalService.withTransport { transport, service, loop in
            let width = 10
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 1...width {
                    group.addTask(executorPreference: loop.taskExecutor) {
                        try await transport.send(HTTPRequest(service.url + "/once-reset/\(width)")).status
                    }
                }
                for try await status in group { #expect(status == 200) }
            }
            let answer = try await transport.send(HTTPRequest(service.url + "/size/3"))
            #expect(answer.body.count == 3)
        }
    }

    /// Sent twice, it might do twice what it asks for; libcurl's own try aside, the caller decides.
    @Test func onlyRequestsThatMayComeTwiceAreRepeated() {
        for method in ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"] {
            #expect(HTTPRequest("http://x", method: method).isIdempotent)
        }
        for method in ["POST", "PATCH", "get"] { #expect(!HTTPRequest("http://x", method: method).isIdempotent) }
    }

    @Test func manyAtOnce() async throws {
        try await LocalService.withTransport { transport, service, loop in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 1...200 {
                    group.addTask(executorPreference: loop.taskExecutor) {
                        try await transport.send(HTTPRequest(service.url + "/chunked/\(number)")).body.count
                    }
                }
                var sum = 0
                for try await size in group { sum += size }
                #expect(sum == 200 * 201 / 2)
            }
        }
    }

    /// Ten times as many as may be under way: the others wait, on no connection, and no connection is given up that the
    /// next request needs. The service counts.
    @Test func aHostIsAskedOnSoManyConnectionsAndNoMore() async throws {
        try await LocalService.withTransport(isOwn: true) { transport, service, loop in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 1...640 {
                    group.addTask(executorPreference: loop.taskExecutor) {
                        let answer = try await transport.send(HTTPRequest(service.url + "/pause"))
                        #expect(answer.status == 200)
                    }
                }
                try await group.waitForAll()
            }
            let accepted = try await transport.send(HTTPRequest(service.url + "/accepted")).body.string
            #expect(Int(accepted) ?? 0 <= CurlMulti.mostToOrigin)
        }
    }

    @Test func whoWaitsForItsTurnCanLeave() async throws {
        try await LocalService.withTransport(isOwn: true) { transport, service, loop in
            func ask(_ path: String) -> Task<Int, any Error> {
                loop.task { try await transport.send(HTTPRequest(service.url + path)).status }
            }
            let hung = (1...CurlMulti.mostToOrigin).map { _ in ask("/hang") }
            let first = ask("/size/1")
            let second = ask("/size/2")
            // Under another name it is another origin, which nobody waits for.
            let other = try await transport.send(HTTPRequest(service.otherURL + "/size/3"))
            #expect(other.status == 200)
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
            hung[0].cancel()
            let status = try await second.value
            #expect(status == 200)
            let last = ask("/size/4")
            transport.close()
            for task in hung + [last] {
                let ended = await failure { try await task.value }
                #expect(ended?.code == .httpClosed || task == hung[0])
            }
        }
    }

    /// A handle that has served one request serves another: nothing of the first may be left in it.
    @Test func requestsLeaveNothingBehind() async throws {
        try await LocalService.withTransport { transport, service, _ in
            let url = service.url + "/echo"
            let requests = [
                HTTPRequest(url, headers: ["X-A": "1", "User-Agent": "own"], bearer: Secret("t0ken")),
                HTTPRequest(url), HTTPRequest(url), HTTPRequest(url, headers: ["X-A": "2"]),
                HTTPRequest(url, method: "POST", body: "body"), HTTPRequest(url),
                HTTPRequest(url, method: "PUT", body: "body"), HTTPRequest(url, bearer: Secret("other")),
                HTTPRequest(url, method: "DELETE"), HTTPRequest(url),
                HTTPRequest("http://u:p@127.0.0.1:\(service.port)/echo"), HTTPRequest(url),
            ]
            for request in requests {
                let echo = try JSON.parse(try await transport.send(request).body)
                #expect(echo["method"]?.string == request.method)
                #expect(echo["body"]?.string == request.body?.string ?? "")
                var headers = HTTPHeaders()
                for pair in try #require(echo["headers"]).elements {
                    let parts = pair.elements.map { $0.string ?? "" }
                    headers.append(parts[0], parts[1])
                }
                #expect(headers["X-A"] == request.headers["X-A"])
                #expect(headers["User-Agent"] == request.headers["User-Agent"] ?? "feedbus/test")
                let token = request.bearer.map { "Bearer \($0.reveal())" }
                #expect(headers["Authorization"] == token ?? (request.url.contains("@") ? "Basic dTpw" : nil))
            }
            let head = try await transport.send(HTTPRequest(url, method: "HEAD"))
            #expect(head.status == 200 && head.body.isEmpty)
            let whole = try await transport.send(HTTPRequest(url))
            #expect(!whole.body.isEmpty)
            let limited = await failure { try await transport.send(HTTPRequest(service.url + "/size/9", maxBody: 8)) }
            #expect(limited?.code == .httpBodyTooLarge)
            let nine = try await transport.send(HTTPRequest(service.url + "/size/9"))
            #expect(nine.body.count == 9)
            let late = await failure {
                try await transport.send(HTTPRequest(service.url + "/hang", timeout: .milliseconds(50)))
            }
            #expect(late?.code == .httpTimeout)
            let last = try await transport.send(HTTPRequest(service.url + "/pause"))
            #expect(last.status == 200)
        }
    }

    /// Blocks that are used again: no body may show what another one left.
    @Test func bodiesOfAllSizesOneAfterTheOther() async throws {
        try await LocalService.withTransport { transport, service, _ in
            var kept: [Bytes] = []
            for size in [30_000, 20_000, 30_001, 5_000, 4_096, 4_095, 1, 0, 70_000, 30_000, 100_000, 16_385] {
                for kind in ["size", "gzip", "chunked"] {
                    let body = try await transport.send(HTTPRequest(service.url + "/\(kind)/\(size)")).body
                    #expect(body == Bytes(String(repeating: "x", count: size)))
                    if size % 3 == 0 { kept.append(body) }
                }
            }
            for body in kept { #expect(body == Bytes(String(repeating: "x", count: body.count))) }
        }
    }

    @Test func anyThreadMayAsk() async throws {
        try await LocalService.withTransport { transport, service, _ in
            try await Task.detached {
                for _ in 1...3 {
                    let response = try await transport.send(HTTPRequest(service.url + "/size/7"))
                    #expect(response.body.count == 7)
                }
            }.value
        }
    }

    // MARK: - Failures

    @Test(arguments: [
        ("truncated", "http.reset"), ("reset", "http.reset"), ("reset-late", "http.reset"), ("empty", "http.reset"),
        ("garbage", "http.protocol"), ("bad-gzip", "http.protocol"),
    ]) func brokenAnswers(_ path: String, _ code: String) async throws {
        try await LocalService.withTransport { transport, service, _ in
            let error = await failure {
                try await transport.send(HTTPRequest(service.url + "/\(path)?key=hush", secretQuery: ["key"]))
            }
            #expect(error?.code.name == code && error?.isRetriable == true)
            #expect(error?.message.hasPrefix("GET \(service.url)/\(path)?key=REDACTED: ") == true)
            let next = try await transport.send(HTTPRequest(service.url + "/size/3"))
            #expect(next.body.count == 3)
        }
    }

    @Test func nobodyThere() async throws {
        try await LocalService.withTransport { transport, _, _ in
            let refused = await failure { try await transport.send(HTTPRequest("http://127.0.0.1:1/")) }
            #expect(refused?.code == .httpConnect && refused?.isRetriable == true)
            let unknown = await failure { try await transport.send(HTTPRequest("http://no-such-host.invalid/")) }
            #expect(unknown?.code == .httpDNS && unknown?.isRetriable == true)
        }
    }

    @Test func plainHTTPWhereTLSIsExpected() async throws {
        try await LocalService.withTransport { transport, service, _ in
            let error = await failure {
                try await transport.send(HTTPRequest("https://127.0.0.1:\(service.port)/echo"))
            }
            #expect(error?.code == .httpTLS)
        }
    }

    @Test(arguments: ["hang", "drip"]) func theTimeoutIsForTheWholeRequest(_ path: String) async throws {
        try await LocalService.withTransport { transport, service, loop in
            let start = loop.clock.now
            let error = await failure {
                try await transport.send(HTTPRequest(service.url + "/" + path, timeout: .milliseconds(300)))
            }
            #expect(error?.code == .httpTimeout && error?.isRetriable == true)
            #expect(error?.message.contains("300ms") == true)
            let taken = (loop.clock.now - start).seconds
            #expect(taken >= 0.29 && taken < 30)
        }
    }

    @Test(arguments: ["size", "gzip", "chunked", "deflate"]) func aBodyIsCutOffEarly(_ kind: String) async throws {
        try await LocalService.withTransport { transport, service, _ in
            let limit = 1 << 20
            let whole = try await transport.send(HTTPRequest(service.url + "/\(kind)/\(limit)", maxBody: limit))
            #expect(whole.body.count == limit)
            for size in [limit + 1, 200 << 20] where size < 2 << 20 || kind != "chunked" {
                let error = await failure {
                    try await transport.send(HTTPRequest(service.url + "/\(kind)/\(size)", maxBody: limit))
                }
                #expect(error?.code == .httpBodyTooLarge && error?.isRetriable == false)
                #expect(error?.message.contains("1MiB") == true)
            }
        }
    }

    // MARK: - Cancellation and the end

    @Test func cancellationEndsATransferAtOnce() async throws {
        try await LocalService.withTransport { transport, service, loop in
            func number(_ what: String) async throws -> Int {
                Int(try await transport.send(HTTPRequest(service.url + "/" + what)).body.string) ?? -1
            }
            let hung = try await number("hung")
            let tasks = (1...3).map { _ in
                loop.task { try await transport.send(HTTPRequest(service.url + "/hang", timeout: .seconds(3_600))) }
            }
            while try await number("hung") < hung + 3 { await Task.yield() }
            let gone = try await number("gone")
            let start = loop.clock.now
            for task in tasks { task.cancel() }
            for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
            #expect((loop.clock.now - start).seconds < 5)
            // The service sees them go: the connections were closed, not only forgotten.
            while try await number("gone") < gone + 3 { await Task.yield() }
        }
    }

    @Test func aCancelledTaskAsksNothing() async throws {
        try await LocalService.withTransport { transport, service, loop in
            let task = loop.task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await transport.send(HTTPRequest(service.url + "/echo"))
            }
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test func closingEndsWhatIsUnderWay() async throws {
        try await LocalService.withTransport { transport, service, loop in
            let task = loop.task { try await transport.send(HTTPRequest(service.url + "/drip")) }
            _ = try await transport.send(HTTPRequest(service.url + "/size/1"))
            transport.close()
            let ended = await failure { try await task.value }
            #expect(ended?.code == .httpClosed)
            let late = await failure { try await transport.send(HTTPRequest(service.url + "/size/1")) }
            #expect(late?.code == .httpClosed)
        }
    }

    // MARK: - With the polite client

    @Test func redirectsAcrossHostsDropTheToken() async throws {
        try await LocalService.withTransport { transport, service, loop in
            let client = PoliteClient(
                transport: transport, ledger: ServiceLedger(), retry: RetryPolicy(attempts: 1), clock: loop.clock,
                log: .silent, seed: 1)
            for (target, kept) in [(service.url + "/echo", true), ("/echo", true), (service.otherURL + "/echo", false)]
            {
                let got = try await client.fetch(
                    HTTPRequest(service.url + "/redirect/302?to=" + target, bearer: Secret("t0ken")), decode: text)
                #expect(got.value?.contains("t0ken") == kept)
                #expect(got.response.url.hasSuffix("/echo"))
            }
        }
    }

    @Test func aRunIsRecordedAndPlayedAgain() async throws {
        try await LocalService.withTransport { transport, service, loop in
            let file = RecordingFile()
            let recorder = try await file.open(loop.clock, on: loop)
            let live = recorder.wrap(transport)
            let request = HTTPRequest(service.url + "/gzip/5000")
            let first = try await live.send(request)
            let recording = try RecordedTransport(har: try await file.finish(recorder, on: loop), name: "x")
            let again = try await recording.send(request)
            #expect(again.recorded && again.body == first.body && again.headers == first.headers)
        }
    }

    @Test func callsFromTheLoopDoNotQueue() async throws {
        try await LocalService.withTransport { transport, service, loop in
            _ = try await transport.send(HTTPRequest(service.url + "/size/1"))
            let before = loop.enqueueCount
            _ = try await transport.send(HTTPRequest(service.url + "/size/1"))
            // One: the resume out of libcurl's callback.
            #expect(loop.enqueueCount - before <= 2)
        }
    }
}
