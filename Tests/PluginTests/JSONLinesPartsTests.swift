// feedbus: the decisions of the JSON-lines sink, on values.

import FeedbusPlugin
import Testing

@testable import JSONLinesPlugin

struct LineTextTests {
    @Test func lineEndsAreFound() {
        let text = LineText(bytes: "ab\n\ncd\n")
        #expect((0...7).map { text.lineEnd(atOrBefore: $0) } == [0, 0, 0, 3, 4, 4, 4, 7])
        #expect((0...7).map { text.lineEnd(after: $0) } == [3, 3, 3, 4, 7, 7, 7, 7])
    }

    @Test func dataIsOneLineWhateverASourceDoes() {
        let text = LineText([event("{\n\"a\": 1}"), event("[1]")], format: .data)
        #expect(text.bytes == "{\"a\":1}\n[1]\n")
    }

    @Test func wholeEventsAreCloudEvents() {
        let event = event("{\"a\":1}")
        #expect(LineText([event], format: .cloudevents).bytes.string == event.cloudEvent.string + "\n")
    }
}

struct ByteRunsTests {
    private let block = Bytes("{\"a\":1}\n{\"b\":2}\n{\"c\":3}\r\n{\"d\":4}")
    private var lines: [Bytes] { [block[0..<7], block[8..<15], block[16..<23], block[25..<32]] }

    private func runs(_ lines: [Bytes]) -> ByteRuns {
        var runs = ByteRuns()
        for line in lines { runs.appendLine(line) }
        return runs
    }

    @Test func neighboursAreOneSlice() {
        let runs = runs(Array(lines[0..<2]))
        #expect(runs.runs.count == 1)
        #expect(runs.joined == "{\"a\":1}\n{\"b\":2}\n" && runs.count == 16)
    }

    @Test func whatIsLeftOutIsLeftOut() {
        let runs = runs([lines[0], lines[2], lines[3], "", lines[1]])
        #expect(runs.joined == "{\"a\":1}\n{\"c\":3}\n{\"d\":4}\n\n{\"b\":2}\n")
        #expect(runs.count == runs.joined.count)
        #expect(runs.runs.map(\.endsLine) == [true, false, true, false, true, true, true])
    }

    @Test func aBatchIsTheSameTextEitherWay() {
        let chunk = Chunk((lines + ["[\n1]", "2"]).map { Event(origin: testOrigin, id: "1", data: $0) })
        #expect(LineText.runs(chunk).joined == LineText(chunk, format: .data).bytes)
    }
}

struct TornTailTests {
    @Test(arguments: [
        ("", TornTail.none), ("{\"a\":1}", .whole), ("[1]", .whole), ("\"x\"", .whole), ("{\"a\":1", .torn),
        ("{\"a\":\"\\", .torn),
        ("12", .torn), ("tru", .torn), ("\0\0\0", .torn), ("  ", .torn), ("hello world", .foreign), ("<xml>", .foreign),
    ])
    func whatToDo(tail: String, decision: TornTail) {
        #expect(TornTail(Bytes(tail)) == decision)
    }

    @Test func aRecordCutAnywhereIsTornOrWhole() {
        let line = Array("{\"specversion\":\"1.0\",\"data\":{\"text\":\"€\\n\",\"n\":[1,2]}}".utf8)
        for count in 1..<line.count { #expect(TornTail(Bytes(Array(line[..<count]))) == .torn, "cut at \(count)") }
        #expect(TornTail(Bytes(line)) == .whole)
    }
}

struct RotatedNameTests {
    private let pattern = RotatedName.Pattern(path: "/x/out/feedbus.jsonl")
    private let time = WallTime(rfc3339: "2026-11-30T10:15:00.9Z")!

    @Test func namesHaveTheTimeAndACounter() {
        #expect(pattern.folder == "/x/out/")
        #expect(pattern.text(RotatedName(time: time, counter: 1)) == "feedbus-20261130T101500Z.jsonl")
        #expect(pattern.text(RotatedName(time: time, counter: 2)) == "feedbus-20261130T101500Z-2.jsonl")
        #expect(RotatedName.Pattern(path: "log").text(RotatedName(time: time, counter: 1)) == "log-20261130T101500Z")
        #expect(
            RotatedName.Pattern(path: "a/.log").text(RotatedName(time: time, counter: 1)) == ".log-20261130T101500Z")
    }

    @Test(arguments: [
        "feedbus-20261130T101500Z.jsonl", "feedbus-20261130T101500Z-2.jsonl", "feedbus-20261130T101500Z-17.jsonl.gz",
    ])
    func namesAreReadBack(text: String) {
        #expect(pattern.name(text).map { pattern.text($0) } == text)
    }

    @Test(arguments: [
        "feedbus.jsonl", "feedbus-2026.jsonl", "feedbus-20261130T101500Z.jsonl.bz2", "feedbus-20261130T101500Z-1.jsonl",
        "feedbus-20261130T101500Z-02.jsonl", "feedbus-20261130T101500Z-a.jsonl", "other-20261130T101500Z.jsonl",
        "feedbus-",
    ])
    func otherFilesAreLetBe(text: String) {
        #expect(pattern.name(text) == nil)
    }

    @Test func theyAreOrderedByAge() {
        let names = [
            "feedbus-20261130T101500Z-10.jsonl.gz", "feedbus-20261130T101500Z-2.jsonl",
            "feedbus-20261130T101500Z.jsonl",
            "feedbus-20251130T101500Z.jsonl",
        ]
        #expect(names.compactMap { pattern.name($0) }.sorted().map { pattern.text($0) } == names.reversed())
    }
}

struct OldFilesTests {
    private let time = WallTime(rfc3339: "2026-11-30T10:15:00Z")!

    private func setAside(_ count: Int, in folder: Folder, at time: WallTime, keep: Int) throws -> [String] {
        let files = OldFiles(path: folder.path + "/log.jsonl")
        for _ in 0..<count {
            folder.write("log.jsonl", "{}\n")
            _ = try files.setAside(at: time)
            _ = files.prune(keep: keep)
        }
        return folder.names.sorted()
    }

    @Test func theNewestAreKeptAlsoWithinOneSecond() async throws {
        try await withFolder { folder in
            // A counter that a deleted file has left must not make the newest file the oldest.
            let names = try setAside(9, in: folder, at: time, keep: 2)
            #expect(names == ["log-20261130T101500Z-8.jsonl", "log-20261130T101500Z-9.jsonl"])
        }
    }

    /// The list of a folder may miss a file that is exchanged for its compressed one meanwhile: its name is looked for itself,
    /// or the next compression would put another file's lines in its place.
    @Test(arguments: [
        ("log-20261130T101500Z-2.jsonl.gz", true), ("log-20261130T101500Z-2.jsonl", true),
        ("log-20261130T101500Z.jsonl.gz", false),
    ])
    func aNameOfACompressedFileIsTaken(existing: String, isTaken: Bool) async throws {
        try await withFolder { folder in
            folder.write(existing, "{}\n")
            let path = folder.path + "/log.jsonl"
            let name = RotatedName(time: time, counter: 2)
            #expect(OldFiles(path: path).isTaken(name, RotatedName.Pattern(path: path)) == isTaken)
        }
    }

    @Test func aClockThatIsPutBackDoesNotMakeTheNewestTheOldest() async throws {
        try await withFolder { folder in
            _ = try setAside(2, in: folder, at: time, keep: 2)
            let names = try setAside(2, in: folder, at: WallTime(seconds: time.seconds - 3_600), keep: 2)
            #expect(names == ["log-20261130T101500Z-3.jsonl", "log-20261130T101500Z-4.jsonl"])
        }
    }
}

struct RotationStateMachineTests {
    private let now = WallTime(seconds: 1_000_000)

    @Test func aFileTakesTheLinesThatFit() {
        var options = RotateOptions()
        options.size = 10
        var rotation = RotationStateMachine(options: options)
        rotation.opened(size: 0, lastWrite: now)
        let text = LineText(bytes: "1234\n1234\n1234\n12345678901234\n1\n")
        #expect(rotation.next(text, from: 0, now: now) == .write(upTo: 10))
        rotation.wrote(10, now: now)
        #expect(rotation.next(text, from: 10, now: now) == .rotate)
        rotation.opened(size: 0, lastWrite: now)
        #expect(rotation.next(text, from: 10, now: now) == .write(upTo: 15))
        rotation.wrote(5, now: now)
        #expect(rotation.next(text, from: 15, now: now) == .rotate)
        rotation.opened(size: 0, lastWrite: now)
        // A line that is longer than a file may be has one of its own.
        #expect(rotation.next(text, from: 15, now: now) == .write(upTo: 30))
        rotation.wrote(15, now: now)
        #expect(rotation.next(text, from: 30, now: now) == .rotate)
        rotation.opened(size: 7, lastWrite: now)
        #expect(rotation.next(text, from: 30, now: now) == .write(upTo: 32))
    }

    @Test func aPeriodHasItsOwnFile() {
        var options = RotateOptions()
        options.every = .seconds(86_400)
        var rotation = RotationStateMachine(options: options)
        let text = LineText(bytes: "1\n")
        let midnight = WallTime(seconds: 86_400 * 20_000)
        let before = WallTime(seconds: midnight.seconds - 1)
        rotation.opened(size: 5, lastWrite: before)
        #expect(rotation.next(text, from: 0, now: before) == .write(upTo: 2))
        #expect(rotation.next(text, from: 0, now: midnight) == .rotate)
        // An empty file has no period yet.
        rotation.opened(size: 0, lastWrite: before)
        #expect(rotation.next(text, from: 0, now: midnight) == .write(upTo: 2))
        rotation.wrote(2, now: midnight)
        #expect(rotation.next(text, from: 0, now: midnight) == .write(upTo: 2))
        // A clock that was set back begins no file.
        #expect(rotation.next(text, from: 0, now: before) == .write(upTo: 2))
    }
}

struct OutageStateMachineTests {
    @Test func pausesDoubleAndTheBeginningIsSaidOnce() {
        var outage = OutageStateMachine()
        let start = Instant(nanoseconds: 0)
        #expect(outage.succeeded(at: start) == nil)
        let answers = (0..<7).map { outage.failed(at: start + .seconds($0), because: "x") }
        #expect(answers.map(\.isNews) == [true, false, false, false, false, false, false])
        #expect(
            answers.map(\.pause) == [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000].map { Duration.milliseconds($0) })
        #expect(outage.succeeded(at: start + .seconds(9)) == .seconds(9))
        #expect(outage.succeeded(at: start + .seconds(9)) == nil)
        #expect(outage.failed(at: start, because: "x").isNews)
        #expect(outage.failed(at: start, because: "y").isNews)
    }
}

struct JSONLinesOptionsTests {
    @Test func fsyncModeAndRotation() throws {
        let options = try options(
            JSONLinesOptions.self,
            "{\"path\": \"a\", \"fsync\": \"1s\", \"mode\": \"0640\", \"rotate\": {\"size\": \"1MiB\", \"every\": \"1d\", \"keep\": 3}}"
        )
        #expect(options.fsync == .after(.seconds(1)))
        #expect(options.mode == 0o640)
        #expect(options.rotate?.size == 1 << 20)
        #expect(JSONLinesOptions.summaries.first { $0.name == "mode" }?.defaultText == "\"0644\"")
    }

    @Test(arguments: [
        "{}", "{\"path\": \"a\", \"fsync\": \"sometimes\"}", "{\"path\": \"a\", \"fsync\": 5}",
        "{\"path\": \"a\", \"mode\": \"999\"}",
        "{\"path\": \"a\", \"mode\": \"0x1F\"}", "{\"path\": \"a\", \"rotate\": {\"keep\": 0}}",
    ])
    func mistakesAreFound(text: String) {
        #expect(throws: FeedbusError.self) { _ = try options(JSONLinesOptions.self, text) }
    }

    @Test func theCheckLooksAtWhatBelongsTogether() throws {
        #expect(try problems(JSONLines.self, "{\"path\": \"a\", \"rotate\": {\"keep\": 2}}").count == 1)
        #expect(try problems(JSONLines.self, "{\"path\": \"a/\"}").count == 1)
        let gzip = "{\"path\": \"a\", \"rotate\": {\"size\": \"1MB\", \"gzip\": true}}"
        #expect(try problems(JSONLines.self, gzip).count == 1)
        #expect(try problems(JSONLines.self, gzip, programs: ["/bin/gzip"]) == [])
    }
}
