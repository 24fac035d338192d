// feedbus: lines of real files and pipes as events.

import FeedbusLoop
import FeedbusPlugin
import Glibc
import JSONLinesFilePlugin
import Lines
import Synchronization
import Testing

/// Where the source puts its events; what it saved is there for the next run.
private final class Intake: Sendable {
    struct State {
        var events: [Event] = []
        var cursor: Bytes?
        var dropped = 0
        /// What was set aside.
        var texts: [String] = []
        var largest = 0
    }
    let state = Mutex(State())

    var output: Output {
        Output { events, cursors in
            self.state.withLock { state in
                state.largest = max(state.largest, events.count)
                state.events += events
                for cursor in cursors { state.cursor = cursor.value }
            }
        }
    }
    var data: [String] { state.withLock { $0.events.map(\.data.string) } }
    var ids: [String] { state.withLock { $0.events.map(\.id.string) } }
    func forget() { state.withLock { $0.events = [] } }
}

struct JSONLinesFileTests {
    private func source(
        on loop: EventLoop, _ folder: Folder, _ intake: Intake, _ book: LogBook, _ more: String = "", once: Bool = false
    ) throws -> JSONLinesFile {
        let options = try options(JSONLinesFileOptions.self, "{\"path\": \"in.jsonl\"\(more)}")
        var context = context(on: loop, clock: loop.clock, book: book, directory: folder.path)
        context.loadCursor = { _ in intake.state.withLock(\.cursor) }
        context.dropped = { count in intake.state.withLock { $0.dropped += count } }
        context.refusedText = { text, _ in intake.state.withLock { $0.texts.append(text.string) } }
        context.mode = RunMode(once: once)
        return JSONLinesFile(options: options, context: context)
    }

    /// What comes of a file that is read to its end.
    private func read(
        _ text: [UInt8], _ more: String = "", intake: Intake = Intake(), book: LogBook = LogBook()
    ) async throws -> (Intake, [String]) {
        try await withFolder { folder in
            folder.write("in.jsonl", bytes: text)
            try await withLoop { loop in
                try await self.source(on: loop, folder, intake, book, more).run(intake.output)
            }
            return (intake, book.messages(.warning))
        }
    }

    @Test func dataIsTheLineByteForByte() async throws {
        let lines = [
            "{\"a\": 1.0}", "[ 1 , 2 ]", "\"\u{2028}\"", "12345678901234567890.50", "{\"b\":\"\\ud800\"}", "null",
        ]
        let (intake, warnings) = try await read(Array((lines.joined(separator: "\r\n") + "\n\n \n{}").utf8))
        #expect(intake.data == lines + ["{}"])
        #expect(warnings.isEmpty)
        let event = intake.state.withLock { $0.events[0] }
        #expect(event.origin.type == "dev.feedbus.line")
        #expect(event.origin.source == "file:in.jsonl")
        #expect(Set(intake.ids).count == 7)
    }

    @Test func whatIsNoJSONIsNamedAndCostsNoNeighbour() async throws {
        let text = "\u{FEFF}{\"a\":1}\n{\"a\":}\n{} {}\n\0\n{\"b\":\"x\n{\"c\":1}\n\u{FEFF}{}\n2"
        let (intake, warnings) = try await read(Array(text.utf8))
        #expect(intake.data == ["{\"a\":1}", "{\"c\":1}", "2"])
        // What is kept is not dropped as well.
        #expect(
            intake.state.withLock(\.texts) == ["{\"a\":}", "{} {}", "\0", "{\"b\":\"x", "\u{FEFF}{}"])
        #expect(intake.state.withLock(\.dropped) == 0)
        #expect(warnings.count == 6)
        #expect(warnings[0].contains("in.jsonl:2: refused") && warnings[0].contains("(byte 11)"), "\(warnings[0])")
        #expect(warnings[1].contains("in.jsonl:3:"))
        #expect(warnings[2].contains("in.jsonl:4:"))
        #expect(warnings[5].contains("5 lines were left out"))
    }

    @Test func brokenCharactersCostOnlyThemselves() async throws {
        let (intake, _) = try await read(Array("{\"a\":\"x".utf8) + [0xFF] + Array("y\"}\n{}\n".utf8))
        #expect(intake.data == ["{\"a\":\"x\u{FFFD}y\"}", "{}"])
        #expect(intake.state.withLock { $0.events[0][attribute: "repairedutf8"] } == "true")
    }

    @Test func aCloudEventIsThatEvent() async throws {
        let line =
            "{\"specversion\":\"1.0\",\"id\":\"7\",\"source\":\"/s\",\"type\":\"t\",\"subject\":\"u\",\"level\":3,\"data\":{\"x\": [1, 2]}}"
        let (intake, _) = try await read(Array("{\"specversion\":\"1.0\"}\n\(line)\n".utf8))
        let events = intake.state.withLock(\.events)
        #expect(events[0].data == "{\"specversion\":\"1.0\"}")
        #expect(events[1].id == "7" && events[1].origin.source == "/s" && events[1].origin.type == "t")
        #expect(events[1].subject == "u" && events[1][attribute: "level"] == "3")
        #expect(events[1].data == "{\"x\": [1, 2]}")
    }

    @Test func idsComeFromTheLineOrFromItsPlace() async throws {
        let text = Array("{\"k\":\"a\"}\n{\"k\":\"a\"}\n{\"n\":1}\n".utf8)
        let (named, _) = try await read(text, ", \"id\": \"/k\", \"type\": \"org.example\"")
        #expect(named.ids[0] == "a" && named.ids[1] == "a")
        #expect(named.ids[2].utf8.count == 16)
        #expect(named.state.withLock { $0.events.allSatisfy { $0.origin.type == "org.example" } })
        let (made, _) = try await read(text)
        #expect(Set(made.ids).count == 3)
        #expect(made.ids[2] == named.ids[2])
        #expect(try await read(text).0.ids == made.ids)
    }

    @Test func linesOfManyBlocksSurviveWhole() async throws {
        var random = SplitMix64(seed: 3)
        let lines = (0..<4_000).map { index in
            "{\"n\":\(index),\"x\":\"\(String(repeating: "y", count: Int.random(in: 0...2_000, using: &random)))\"}"
        }
        let (intake, warnings) = try await read(Array((lines.joined(separator: "\n") + "\n").utf8))
        #expect(intake.data == lines)
        #expect(warnings.isEmpty)
        #expect(intake.state.withLock(\.largest) <= LineBlockReader.mostEvents)
    }

    @Test func longLinesPassUpToTheLimit() async throws {
        func line(_ size: Int) -> String { "\"" + String(repeating: "z", count: size - 2) + "\"" }
        let lines = [
            line(3_000_000), line(64), line(4_194_304), line(4_194_305), line(9_000_000), "1", line(5_000_000),
        ]
        let (intake, warnings) = try await read(Array(lines.joined(separator: "\n").utf8), ", \"max_line\": \"4MiB\"")
        #expect(intake.data.map(\.utf8.count) == [3_000_000, 64, 4_194_304, 1])
        #expect(warnings.count == 4)
        #expect(warnings[0].contains("in.jsonl:4: refused is too long: 4194305 bytes"), "\(warnings[0])")
        #expect(warnings[1].contains("in.jsonl:5:") && warnings[1].contains("9000000 bytes"))
        #expect(warnings[2].contains("in.jsonl:7:"))
        // Nobody has their texts.
        #expect(intake.state.withLock(\.dropped) == 3)
        #expect(intake.state.withLock(\.texts).isEmpty)
    }

    @Test func gzipIsUnpacked() async throws {
        // Two members and zeros behind them: {"a":1}\n and {"b":2}\n
        let packed: [UInt8] = GzipSamples.twoMembers + [0, 0, 0]
        let (intake, warnings) = try await read(packed)
        #expect(intake.data == ["{\"a\":1}", "{\"b\":2}"])
        #expect(warnings.isEmpty)
        await #expect(throws: FeedbusError.self) { _ = try await read(Array(packed[..<20])) }
    }

    @Test func aSecondRunGoesOnWhereTheFirstOneCameTo() async throws {
        try await withFolder { folder in
            folder.write("in.jsonl", "1\n2\nbad\n")
            try await withLoop { loop in
                let (intake, book) = (Intake(), LogBook())
                try await self.source(on: loop, folder, intake, book).run(intake.output)
                #expect(intake.data == ["1", "2"])
                folder.append("in.jsonl", "3\nworse\n")
                try await self.source(on: loop, folder, intake, book).run(intake.output)
                #expect(intake.data == ["1", "2", "3"])
                #expect(book.messages(.warning).contains { $0.contains("in.jsonl:5: refused") })
                // Another file under the same name.
                unlink(folder.path + "/in.jsonl")
                folder.write("other", "")
                folder.write("in.jsonl", "1\n")
                intake.forget()
                try await self.source(on: loop, folder, intake, book).run(intake.output)
                #expect(intake.data == ["1"])
            }
        }
    }

    @Test func aMissingFileIsAnErrorWithItsName() async throws {
        try await withFolder { folder in
            try await withLoop { loop in
                let source = try self.source(on: loop, folder, Intake(), LogBook())
                let error = await #expect(throws: FeedbusError.self) { try await source.run(Intake().output) }
                #expect(error?.message.contains("\(folder.path)/in.jsonl") == true)
            }
        }
    }

    @Test func aFollowedFileMayGrowBeCutOffAndBeReplaced() async throws {
        try await withFolder { folder in
            folder.write("in.jsonl", "1\n2")
            try await withLoop { loop in
                let (intake, book) = (Intake(), LogBook())
                let source = try self.source(on: loop, folder, intake, book, ", \"follow\": true")
                let task = loop.task { try await source.run(intake.output) }
                func arrives(_ data: [String]) async throws {
                    for _ in 0..<2_000 where intake.data != data { try await loop.clock.sleep(for: .milliseconds(5)) }
                    #expect(intake.data == data)
                }
                try await arrives(["1"])
                folder.append("in.jsonl", "2\n")
                try await arrives(["1", "22"])
                truncate(folder.path + "/in.jsonl", 0)
                folder.append("in.jsonl", "3\n")
                try await arrives(["1", "22", "3"])
                rename(folder.path + "/in.jsonl", folder.path + "/old.jsonl")
                folder.append("old.jsonl", "4\n")
                try await arrives(["1", "22", "3", "4"])
                folder.write("in.jsonl", "5\n6\n")
                folder.append("old.jsonl", "4.5\n")
                try await arrives(["1", "22", "3", "4", "4.5", "5", "6"])
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                // The ids of equal lines at equal places of different files differ.
                #expect(Set(intake.ids).count == 7)
                #expect(intake.state.withLock { $0.cursor?.string.contains("\"offset\":4,") } == true)
            }
        }
    }

    @Test func onceEndsAFollowedFile() async throws {
        try await withFolder { folder in
            folder.write("in.jsonl", "1\n2")
            try await withLoop { loop in
                let intake = Intake()
                try await self.source(on: loop, folder, intake, LogBook(), ", \"follow\": true", once: true)
                    .run(intake.output)
                #expect(intake.data == ["1", "2"])
            }
        }
    }

    @Test func aPipeGivesWhatIsThereAtOnce() async throws {
        try await withFolder { folder in
            mkfifo(folder.path + "/in.jsonl", 0o600)
            try await withLoop { loop in
                let intake = Intake()
                let source = try self.source(on: loop, folder, intake, LogBook())
                let task = loop.task { try await source.run(intake.output) }
                // Opened for both, so that it does not wait for the reader.
                let fd = open(folder.path + "/in.jsonl", O_RDWR)
                defer { close(fd) }
                for number in 0..<50 {
                    let text = "{\"n\":\(number)}\n"
                    #expect(write(fd, text, text.utf8.count) == text.utf8.count)
                    for _ in 0..<2_000 where intake.data.count <= number {
                        try await loop.clock.sleep(for: .milliseconds(1))
                    }
                    #expect(intake.data.count == number + 1)
                }
                task.cancel()
                _ = await task.result
            }
        }
    }

    @Test(
        "The odd files: no neighbour is lost",
        .enabled(if: SharedFiles.isThere, "data/jsonl-odd is missing: set FEEDBUS_SHARED"))
    func oddFiles() async throws {
        for name in SharedFiles.oddLines {
            let text = SharedFiles.read(name)
            let (intake, _) = try await read(text)
            guard !name.hasSuffix(".gz") else {
                #expect(intake.data.count == 5, "\(name)")
                continue
            }
            let lines = String(decoding: text, as: UTF8.self).split { $0 == "\n" || $0 == "\r\n" }
                .filter { !$0.allSatisfy(\.isWhitespace) && $0 != "\u{FEFF}" }
            let refused = intake.state.withLock { $0.dropped + $0.texts.count }
            #expect(intake.data.count + refused == lines.count, "\(name)")
        }
    }
}

private enum GzipSamples {
    /// Made with Python's gzip.compress(…, mtime=0).
    static let twoMembers: [UInt8] = [
        0x1f, 0x8b, 0x8, 0x0, 0x0, 0x0, 0x0, 0x0, 0x2, 0x3, 0xab, 0x56, 0x4a, 0x54, 0xb2, 0x32, 0xac, 0xe5, 0x2, 0x0,
        0x46, 0xa3, 0xe8, 0x74, 0x8, 0x0, 0x0, 0x0, 0x1f, 0x8b, 0x8, 0x0, 0x0, 0x0, 0x0, 0x0, 0x2, 0x3, 0xab, 0x56,
        0x4a, 0x52, 0xb2, 0x32, 0xaa, 0xe5, 0x2, 0x0, 0xb1, 0x6f, 0x3a, 0xf0, 0x8, 0x0, 0x0, 0x0,
    ]
}

private enum SharedFiles {
    static let folder: String = {
        if let named = getenv("FEEDBUS_SHARED") { return String(cString: named) + "/data/jsonl-odd" }
        return "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/../shared/data/jsonl-odd"
    }()
    static var isThere: Bool { access(folder, R_OK) == 0 }
    static var oddLines: [String] { Folder(path: folder).names }
    static func read(_ name: String) -> [UInt8] { Folder(path: folder).bytes(name) }
}
