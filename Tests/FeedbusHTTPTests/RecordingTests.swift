// feedbus: tests of recordings.

import FeedbusBase
import FeedbusJSON
import FeedbusLoop
import FeedbusTestKit
import Glibc
import Synchronization
import Testing

@testable import FeedbusHTTP

@Suite struct RecordingTests {
    /// A HAR file as a browser's devtools write it, cut down.
    private static let devtools = """
        {"log":{"version":"1.2","creator":{"name":"WebInspector","version":"537.36"},"pages":[],"entries":[
        {"_initiator":{"type":"other"},"request":{"method":"GET","url":"https://api.example.org/a?x=1&y=a%20b#top","headers":[]},
         "response":{"status":200,"headers":[{"name":":status","value":"200"},{"name":"etag","value":"W/\\"1\\""}],
         "content":{"size":3,"mimeType":"application/json","text":"WzFd","encoding":"base64"}}},
        {"request":{"method":"GET","url":"https://api.example.org/a?y=a+b&x=1"},
         "response":{"status":200,"headers":[{"name":"etag","value":"W/\\"2\\""}],"content":{"text":"[2]"}}},
        {"request":{"method":"GET","url":"https://api.example.org/blocked"},"response":{"status":0,"headers":[],"content":{}}},
        {"request":{"method":"GET","url":"data:text/plain,x"},"response":{"status":200,"headers":[],"content":{"text":"x"}}},
        {"request":{"method":"GET","url":"https://API.example.org:443/moved"},
         "response":{"status":301,"headers":[{"name":"Location","value":"/a?x=1&y=a%20b"}],"content":{}}},
        {"request":{"method":"POST","url":"https://api.example.org/a?x=1&y=a%20b"},
         "response":{"status":201,"headers":[],"content":{"text":"posted"}}}
        ]}}
        """

    private func devtools() throws -> RecordedTransport {
        try RecordedTransport(har: Bytes(Self.devtools), name: "demo.har")
    }

    private func ask(
        _ recording: RecordedTransport, _ url: String, method: String = "GET", etag: String? = nil,
        since: String? = nil,
        secretQuery: [String] = []
    ) async throws -> HTTPResponse {
        var request = HTTPRequest(url, method: method, secretQuery: secretQuery)
        request.headers["If-None-Match"] = etag
        request.headers["If-Modified-Since"] = since
        return try await recording.send(request)
    }

    @Test func aBrowsersRecordingAnswersInOrderAndTheLastRepeats() async throws {
        let recording = try devtools()
        var bodies: [String] = []
        for query in ["x=1&y=a%20b", "y=a%20b&x=1", "y=a+b&x=1"] {
            let response = try await ask(recording, "https://api.example.org/a?\(query)")
            #expect(response.recorded)
            bodies.append(response.body.string)
        }
        #expect(bodies == ["[1]", "[2]", "[2]"])
        #expect(try await ask(recording, "https://api.example.org/a?x=1&y=a%20b", method: "POST").status == 201)
    }

    @Test func whoHasTheValidatorsGetsA304() async throws {
        let recording = try devtools()
        let url = "https://api.example.org/a?x=1&y=a%20b"
        #expect(try await ask(recording, url, etag: "\"0\"").status == 200)
        for etag in ["\"2\"", "W/\"2\"", "\"7\", W/\"2\"", "*"] {
            let response = try await ask(recording, url, etag: etag)
            #expect(response.status == 304 && response.body.isEmpty && response.headers["ETag"] == "W/\"2\"")
        }
        #expect(try await ask(recording, url, etag: "\"3\"").status == 200)
    }

    @Test func redirectsOfARecordingAreFollowed() throws {
        let recording = try devtools()
        try Simulation.run { simulation in
            let client = PoliteClient(
                transport: recording, ledger: ServiceLedger(), retry: RetryPolicy(), clock: simulation.clock,
                log: .silent,
                seed: 1)
            let got = try await client.fetch(HTTPRequest("https://api.example.org/moved"), decode: text)
            #expect(got.value == "[1]")
        }
    }

    @Test(arguments: [
        "https://api.example.org/a?x=1", "https://api.example.org/a?x=1&y=a%20b&z",
        "http://api.example.org/a?x=1&y=a%20b",
        "https://api.example.org/blocked", "https://example.org/a?x=1&y=a%20b",
    ]) func whatIsNotThereIsAClearError(_ url: String) async throws {
        let recording = try devtools()
        let error = await failure { try await ask(recording, url) }
        #expect(error?.code == .httpNotRecorded)
        #expect(error?.isRetriable == false)
        #expect(error?.message == "GET \(url): the recording demo.har holds no answer to it")
    }

    @Test(arguments: [
        ("", "demo.har:1:1"), ("{\"log\":{}}", "not a HAR file"), ("[]", "not a HAR file"),
        ("{\n oops", "demo.har:2:2"),
    ]) func whatIsNoRecordingIsAnError(_ file: String, _ words: String) {
        #expect {
            _ = try RecordedTransport(har: Bytes(file), name: "demo.har")
        } throws: { describeError($0).contains(words) }
    }

    @Test func whatWasRecordedPlaysAgain() throws {
        try Simulation.run { simulation in
            let binary = Bytes([0, 0xFF, 0xFE, 1])
            let odd = Bytes("{\"text\":\"a\\u2028\\n\u{1F600}\\u0000\"}\n")
            let bed = Bed(
                simulation, takes: .milliseconds(1_500),
                .answer(200, ["ETag": "W/\"1\"", "Set-Cookie": "id=hush", "Content-Type": "application/json"], odd),
                .answer(304, ["ETag": "W/\"1\""], ""), .failure(.httpReset), .answer(200, [:], binary),
                .answer(404, [:], "{}"))
            let file = RecordingFile()
            let recorder = try await file.open(simulation.clock)
            let live = recorder.wrap(bed.transport)
            var request = HTTPRequest(
                "http://h/a?key=hush&b=2", headers: ["Cookie": "hush", "Accept": "*/*"], bearer: Secret("hush-hush"),
                secretQuery: ["key"])
            _ = try await live.send(request)
            request.headers["If-None-Match"] = "W/\"1\""
            _ = try await live.send(request)
            let sent = request
            _ = await failure { try await live.send(sent) }
            request.method = "POST"
            request.body = "key=hush&q=a"
            _ = try await live.send(request)
            _ = try await live.send(HTTPRequest("http://h/missing"))

            let har = try await file.finish(recorder)
            #expect(!har.string.contains("hush"))
            let log = try JSON.parse(har)["log"]
            #expect(log?["version"]?.string == "1.2")
            #expect(log?["creator"]?["name"]?.string == "feedbus")
            #expect(log?["entries"]?.count == 5)
            let first = log?["entries"]?.elements.first { _ in true }
            #expect(first?["startedDateTime"]?.string == "2026-03-01T12:00:00.000Z")
            #expect(first?["time"]?.double == 1_500)
            #expect(first?["request"]?["queryString"]?.count == 2)

            let recording = try RecordedTransport(har: har, name: "demo.har")
            var again = HTTPRequest("http://h/a?b=2&key=another", secretQuery: ["key"])
            let answer = try await recording.send(again)
            #expect(answer.status == 200 && answer.body == odd && answer.headers["ETag"] == "W/\"1\"")
            // The second answer was a 304 to validators; without any, it stands for the whole answer.
            #expect(try await recording.send(again).body == odd)
            again.headers["If-None-Match"] = "\"1\""
            #expect(try await recording.send(again).status == 304)
            again.method = "POST"
            #expect(try await recording.send(again).body == binary)
            #expect(try await recording.send(HTTPRequest("http://h/missing")).status == 404)
        }
    }

    @Test func aRecordingGrowsBesideItsPlaceAndReplacesAnOldOne() throws {
        try Simulation.run { simulation in
            let bed = Bed(simulation, .answer(200, [:], "1"), .failure(.httpReset), .answer(200, [:], "3"))
            let file = RecordingFile()
            for asked in [3, 0] {
                let recorder = try await file.open(simulation.clock)
                for number in 0..<asked {
                    _ = try? await recorder.wrap(bed.transport).send(HTTPRequest("http://h/\(number)"))
                    let grown = try await readWholeFile(file.path + ".part", limit: 1 << 20, on: NoHost())
                    #expect(try JSON.parse(Bytes(grown.string + "]}}"))["log"]?["entries"]?.count == number + 1)
                    #expect(access(file.path, F_OK) != 0)
                }
                #expect(try JSON.parse(try await file.finish(recorder))["log"]?["entries"]?.count == asked)
                #expect(access(file.path + ".part", F_OK) != 0)
            }
        }
    }

    @Test func exchangesThatCannotBeWrittenAreCountedAndTold() throws {
        try Simulation.run { simulation in
            let bed = Bed(simulation, .answer(200, [:], "1"), .answer(200, [:], "2"))
            let file = RecordingFile()
            mkdir(file.folder + "/made", 0o700)
            try #require(symlink("/dev/full", file.path + ".part") == 0)
            let lines = LogLines()
            let recorder = try await file.open(simulation.clock, log: lines.log("x"))
            for _ in 1...2 {
                let answer = try await recorder.wrap(bed.transport).send(HTTPRequest("http://h/"))
                #expect(answer.status == 200)
            }
            #expect(lines.all.count == 1)
            #expect(lines.all.first?.message.contains("No space left on device") == true)
            await #expect {
                try await recorder.finish()
            } throws: { error in
                let message = (error as? FeedbusError)?.message ?? ""
                return message.contains("lacks 2 exchanges") && message.contains("No space left on device")
            }
        }
    }

    @Test func aRecordingThatCannotBeWrittenIsRefusedAtTheStart() throws {
        try Simulation.run { simulation in
            for path in ["/proc/none/run.har", "/dev/null/run.har", "/tmp"] {
                let error = await failure {
                    try await Recorder.open(
                        path: path, host: NoHost(), clock: simulation.clock, creator: "feedbus 1.0", log: .silent)
                }
                #expect(error?.code == .httpRecording && error?.message.contains(path) == true)
            }
            let file = RecordingFile()
            do {
                let first = try await file.open(simulation.clock)
                let second = await failure { try await file.open(simulation.clock) }
                #expect(second?.message.contains("another feedbus") == true)
                #expect(access(file.path + ".part", F_OK) == 0)
                withExtendedLifetime(first) {}
            }
            // Nothing was written: nothing is left.
            #expect(access(file.path + ".part", F_OK) != 0)
        }
    }

    @Test func aSecretThatAServiceQuotesIsNotRecorded() throws {
        try Simulation.run { simulation in
            let bed = Bed(
                simulation, .answer(302, ["Location": "http://other/?t=hush-hush"], "moved to ?t=hush-hush"),
                .answer(403, [:], "{\"error\":\"bad key keyword\"}"))
            let file = RecordingFile()
            let recorder = try await file.open(simulation.clock)
            let live = recorder.wrap(bed.transport)
            let request = HTTPRequest("http://h/", bearer: Secret("hush-hush"))
            let url = try HTTPURL(request.url)
            let answer = try await live.send(request)
            let (next, _) = try Redirects.next(
                after: request, at: url, status: 302, location: answer.headers["Location"] ?? "")
            #expect(next.bearer == nil && next.url.contains("hush-hush"))
            #expect(!next.shown.contains("hush"))
            var other = next
            other.method = "POST"
            other.body = "{\"q\":\"a\",\"key\":\"keyword\"}"
            other.secretQuery = ["key"]
            _ = try await live.send(other)
            let har = try await file.finish(recorder)
            #expect(!har.string.contains("hush") && !har.string.contains("keyword"))
        }
    }

    // MARK: - Fallback

    @Test(arguments: [FeedbusError.Code.httpDNS, .httpConnect, .httpTLS])
    func anUnreachableServiceIsAnsweredForWithOneWarning(_ code: FeedbusError.Code) throws {
        let recording = try devtools()
        try Simulation.run { simulation in
            let bed = Bed(simulation, .failure(code))
            let transport = OfflineFallbackTransport(
                live: bed.transport, recording: recording, log: bed.lines.log("rx"))
            for _ in 1...3 {
                let response = try await transport.send(HTTPRequest("https://api.example.org/a?x=1&y=a%20b"))
                #expect(response.recorded)
            }
            let warnings = bed.lines.all.filter { $0.level == .warning }
            #expect(warnings.count == 1)
            #expect(warnings.first?.node == "rx")
            #expect(warnings.first?.message.contains("recording demo.har") == true)
            let error = await failure { try await transport.send(HTTPRequest("https://api.example.org/none")) }
            #expect(error?.code == code && error?.isRetriable == true)
        }
    }

    @Test(arguments: [FeedbusError.Code.httpTimeout, .httpReset, .httpBodyTooLarge])
    func aServiceThatCanBeReachedIsNotReplaced(_ code: FeedbusError.Code) throws {
        let recording = try devtools()
        try Simulation.run { simulation in
            let bed = Bed(simulation, .failure(code), .answer(500))
            let transport = OfflineFallbackTransport(
                live: bed.transport, recording: recording, log: bed.lines.log("rx"))
            let error = await failure { try await transport.send(HTTPRequest("https://api.example.org/a?x=1&y=a%20b")) }
            #expect(error?.code == code)
            let answer = try await transport.send(HTTPRequest("https://api.example.org/a?x=1&y=a%20b"))
            #expect(answer.status == 500)
            #expect(bed.lines.all.isEmpty)
        }
    }

    @Test func base64GoesThereAndBack() {
        for count in 0..<70 {
            let bytes = Bytes((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 250) })
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
        }
        for (text, decoded) in [
            ("TWE=", "Ma"), ("TQ==", "M"), ("TWFu", "Man"), ("TW\r\nFu", "Man"), ("TQ", "M"), ("", ""),
        ] {
            #expect(Base64.decode(Bytes(text)) == Bytes(decoded))
        }
        for text in ["T", "TW F", "TQ=T", "é"] { #expect(Base64.decode(Bytes(text)) == nil) }
    }
}
