// feedbus: the JSON-lines sink on real files.

import FeedbusLoop
import FeedbusPlugin
import Glibc
import Testing

@testable import JSONLinesPlugin

struct JSONLinesTests {
    /// A sink with these options, in a folder, on a loop.
    private func withSink(
        _ more: String = "", path: String = "log.jsonl", clock: (any EventClock)? = nil,
        holding text: String? = nil,
        _ body: @escaping @Sendable (JSONLines, Folder, LogBook) async throws -> Void
    ) async throws {
        try await withFolder { folder in
            if let text { folder.write("log.jsonl", text) }
            let options = try options(JSONLinesOptions.self, "{\"path\": \"\(path)\", \"format\": \"data\"\(more)}")
            try await withLoop { loop in
                let book = LogBook()
                let sink = JSONLines(
                    options: options,
                    context: context(on: loop, clock: clock ?? loop.clock, book: book, directory: folder.path))
                try await body(sink, folder, book)
            }
        }
    }

    @Test func itAppendsWholeLines() async throws {
        try await withSink(path: "deep/er/log.jsonl") { sink, folder, _ in
            try await sink.open()
            try await sink.write(numbered(0..<2))
            try await sink.write(numbered(2..<3))
            try await sink.close()
            #expect(folder.read("deep/er/log.jsonl") == "{\"n\":0}\n{\"n\":1}\n{\"n\":2}\n")
        }
    }

    @Test(arguments: [
        ("{\"old\":1}\n{\"ha", "{\"old\":1}\n"), ("{\"old\":1}\n{\"whole\":2}", "{\"old\":1}\n{\"whole\":2}\n"),
        ("{\"ha", ""),
        ("{\"old\":1}\n", "{\"old\":1}\n"),
    ])
    func aTornEndIsRepaired(text: String, kept: String) async throws {
        try await withSink(holding: text) { sink, folder, book in
            try await sink.open()
            try await sink.write(numbered(0..<1))
            try await sink.close()
            #expect(folder.read("log.jsonl") == kept + "{\"n\":0}\n")
            #expect(
                book.messages(.warning).contains { $0.contains("repaired") && $0.contains("torn") } == (text != kept))
        }
    }

    @Test func aTornLineLongerThanAReadIsRepaired() async throws {
        let long = "{\"x\":\"" + String(repeating: "y", count: 200_000)
        try await withSink(holding: "{}\n" + long) { sink, folder, book in
            try await sink.open()
            #expect(folder.read("log.jsonl") == "{}\n")
            #expect(book.messages(.warning).contains { $0.contains("\(long.utf8.count) bytes") })
            try await sink.close()
        }
    }

    @Test func anotherKindOfFileIsLeftAlone() async throws {
        try await withSink(holding: "Dear diary") { sink, folder, _ in
            await #expect(throws: FeedbusError.self) { try await sink.open() }
            #expect(folder.read("log.jsonl") == "Dear diary")
        }
    }

    @Test func aLockedFileIsRefused() async throws {
        try await withSink { sink, folder, _ in
            let fd = open("\(folder.path)/log.jsonl", O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
            #expect(flock(fd, LOCK_EX) == 0)
            await #expect {
                try await sink.open()
            } throws: { error in
                let error = error as? FeedbusError
                return error?.code == "file.locked" && error?.isRetriable == true
            }
            flock(fd, LOCK_UN)
            close(fd)
            try await sink.open()
            try await sink.close()
        }
    }

    @Test func aRenamedFileIsLeftAndANewOneBegun() async throws {
        let clock = SleeplessClock()
        try await withSink(clock: clock) { sink, folder, _ in
            try await sink.open()
            try await sink.write(numbered(0..<1))
            rename("\(folder.path)/log.jsonl", "\(folder.path)/log.1")
            clock.advance(.seconds(1))
            try await sink.write(numbered(1..<2))
            rename("\(folder.path)/log.jsonl", "\(folder.path)/log.2")
            try await sink.reopen()
            try await sink.write(numbered(2..<3))
            try await sink.close()
            #expect(
                folder.read("log.1") + folder.read("log.2") + folder.read("log.jsonl")
                    == "{\"n\":0}\n{\"n\":1}\n{\"n\":2}\n")
            #expect(folder.names == ["log.1", "log.2", "log.jsonl"])
        }
    }

    @Test func rotationLosesAndSplitsNothing() async throws {
        try await withSink(", \"rotate\": {\"size\": \"1KiB\"}", clock: SleeplessClock()) { sink, folder, _ in
            try await sink.open()
            for start in stride(from: 0, to: 600, by: 60) { try await sink.write(numbered(start..<start + 60)) }
            try await sink.close()
            let pattern = RotatedName.Pattern(path: "log.jsonl")
            let old = folder.names.compactMap { pattern.name($0) }.sorted().map { pattern.text($0) }
            #expect(old.count >= 5)
            for name in old + ["log.jsonl"] { #expect(folder.read(name).utf8.count <= 1_024) }
            let lines = (old + ["log.jsonl"]).flatMap { folder.lines($0) }
            #expect(lines == (0..<600).map { "{\"n\":\($0)}" })
        }
    }

    @Test(.enabled(if: access("/usr/bin/gzip", X_OK) == 0 || access("/bin/gzip", X_OK) == 0))
    func oldFilesAreCompressedAndTheOldestGo() async throws {
        let rotate = "{\"size\": \"1KiB\", \"keep\": 2, \"gzip\": true}"
        try await withFolder { folder in
            let made = try options(
                JSONLinesOptions.self, "{\"path\": \"log.jsonl\", \"format\": \"data\", \"rotate\": \(rotate)}")
            try await withLoop { loop in
                let sink = JSONLines(
                    options: made, context: context(on: loop, clock: loop.clock, directory: folder.path))
                try await sink.open()
                for start in stride(from: 0, to: 500, by: 50) { try await sink.write(numbered(start..<start + 50)) }
                await sink.settleOldFiles()
                try await sink.close()
            }
            #expect(folder.names.count == 3)
            #expect(folder.names.filter { $0.hasSuffix(".gz") }.count == 2)
            #expect(folder.read("log.jsonl").hasSuffix("{\"n\":499}\n"))
        }
    }

    /// `/dev/full` takes no byte, ever.
    @Test func aFullDiskIsSaidOnceAndWaitedFor() async throws {
        let clock = SleeplessClock(limit: 6)
        try await withSink(path: "/dev/full", clock: clock) { sink, _, book in
            try await sink.open()
            await #expect(throws: CancellationError.self) { try await sink.write(numbered(0..<3)) }
            let errors = book.messages(.warning)
            #expect(errors.count == 1)
            #expect(errors.first?.contains("No space left on device (ENOSPC)") == true)
            #expect(errors.first?.contains("/dev/full") == true)
            #expect(clock.pauses == [250, 500, 1_000, 2_000, 4_000, 5_000].map { .milliseconds($0) })
        }
    }

    @Test(arguments: ["\"batch\"", "\"10ms\""])
    func fsyncKeepsTheLines(policy: String) async throws {
        try await withSink(", \"fsync\": \(policy)") { sink, folder, book in
            try await sink.open()
            try await sink.write(numbered(0..<100))
            try await sink.close()
            #expect(folder.lines("log.jsonl").count == 100)
            #expect(book.messages(.warning) == [])
        }
    }
}
