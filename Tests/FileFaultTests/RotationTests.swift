// feedbus: rotation of the JSON-lines sink in time, and whole files that take their place at once, on faulty files.

import FeedbusLoop
import FeedbusPlugin
import FeedbusTestKit
import Glibc
import Testing

@testable import JSONLinesPlugin

struct RotationTests {
    @Test func aPeriodEndsWithoutTraffic() throws {
        try withRig(", \"rotate\": {\"every\": \"1h\"}") { rig in
            try await rig.sink.open()
            try await rig.sink.write(numbered(0..<3))
            // The simulated day begins at noon.
            try await rig.pass(.seconds(3_599))
            #expect(rig.names == ["log.jsonl"])
            try await rig.pass(.seconds(62))
            #expect(rig.names == ["log-20260301T130000Z.jsonl", "log.jsonl"])
            #expect(rig.read("log-20260301T130000Z.jsonl") == lines(0..<3))
            // An empty file is not set aside.
            try await rig.pass(.seconds(5 * 3_600))
            #expect(rig.names.count == 2)
            try await rig.sink.write(numbered(3..<4))
            try await rig.pass(.seconds(3_700))
            #expect(rig.names.count == 3)
            try await rig.sink.close()
        }
    }

    @Test func aRotationInTimeThatFailsIsTriedAgain() throws {
        try withRig(", \"rotate\": {\"every\": \"1h\"}") { rig in
            try await rig.sink.open()
            try await rig.sink.write(numbered(0..<3))
            rig.files.script(.rename, [.fails(EACCES), .fails(EACCES)])
            rig.files.always(.open, .fails(EMFILE))
            try await rig.pass(.seconds(3_700))
            // Set aside; and there is no new file yet.
            #expect(rig.names == ["log-20260301T130000Z.jsonl"])
            rig.files.always(.open, nil)
            try await rig.sink.write(numbered(3..<5))
            #expect(rig.read() == lines(3..<5))
            #expect(rig.recoveries.count == 1)
            try await rig.sink.close()
        }
    }

    /// Compressed or not, the lines are there, and under one name.
    @Test func aCompressedFileTakesThePlaceOfTheOldOne() throws {
        try withRig { rig in
            let files = OldFiles(path: rig.path, in: rig.files)
            let name = "log-20260301T130000Z.jsonl"
            let path = "\(rig.folder)/\(name)"
            func write(_ path: String, _ text: String) throws {
                let file = try #require(fopen(path, "w"))
                fputs(text, file)
                fclose(file)
            }
            try write(path, "lines")
            try write(OldFiles.part(of: path), "packed")
            rig.files.script(.rename, [.fails(ENOSPC)])
            #expect(throws: FileError.self) { try files.exchange(path) }
            #expect(rig.names == [name])
            #expect(rig.read(name) == "lines")
            try write(OldFiles.part(of: path), "packed")
            try files.exchange(path)
            #expect(rig.names == [name + ".gz"])
            #expect(rig.read(name + ".gz") == "packed")
        }
    }

    /// A file that somebody else has already begun at the path is appended to.
    @Test func aFileFromYesterdayIsSetAsideAtTheStart() throws {
        try withRig(", \"rotate\": {\"every\": \"1d\"}", holding: "{\"old\":1}\n") { rig in
            var times = [timespec(tv_sec: 1_772_000_000, tv_nsec: 0), timespec(tv_sec: 1_772_000_000, tv_nsec: 0)]
            utimensat(AT_FDCWD, rig.path, &times, 0)
            try await rig.sink.open()
            try await rig.pass(.seconds(61))
            #expect(rig.names.count == 2)
            #expect(rig.read() == "")
            try await rig.sink.close()
        }
    }
}

struct StagedFileTests {
    private func withFile(_ body: @escaping @Sendable (StagedFile, FaultyFiles, Rig) async throws -> Void) throws {
        try withRig { rig in
            let host = FaultyHost(base: SimulatedHost(rig.bench.simulation.loop), files: rig.files)
            try await body(try await StagedFile.open(rig.folder + "/whole", on: host), rig.files, rig)
        }
    }

    /// A piece is there whole or not at all, also where it cannot be taken back at once.
    @Test func aPieceThatFailsLeavesNothing() throws {
        try withFile { file, files, rig in
            try await file.append { _ in "one," }
            files.script(.write, [.takes(2), .fails(ENOSPC)])
            files.script(.truncate, [.fails(EIO)])
            await #expect(throws: FileError.self) { try await file.append { _ in "two," } }
            try await file.append { _ in "three," }
            try await file.finish { _ in "four" }
            #expect(rig.read("whole") == "one,three,four")
        }
    }

    @Test(arguments: [FaultyFiles.Call.sync, .rename, .write])
    func aFileThatFailsAtTheEndTakesNoPlace(call: FaultyFiles.Call) throws {
        try withFile { file, files, rig in
            try await file.append { _ in "one," }
            files.script(call == .sync ? .syncFolder : call, [.fails(ENOSPC)])
            await #expect(throws: FileError.self) { try await file.finish { _ in "two" } }
            #expect(rig.read("whole") == "")
            #expect(rig.names == ["whole.part"])
        }
    }

    @Test(arguments: [FaultyFiles.Call.open, .write, .syncFolder, .close, .rename])
    func aFileThatIsReplacedIsTheOldOneOrTheNewOne(call: FaultyFiles.Call) throws {
        try withRig(path: "whole", holding: "old") { rig in
            let host = FaultyHost(base: SimulatedHost(rig.bench.simulation.loop), files: rig.files)
            rig.files.script(call, [.fails(EIO)])
            await #expect(throws: FileError.self) {
                try await writeWholeFileAtomically(rig.folder + "/whole", "new", on: host)
            }
            #expect(rig.read("whole") == "old")
            #expect(rig.names == ["whole"])
            try await writeWholeFileAtomically(rig.folder + "/whole", "new", on: host)
            #expect(rig.read("whole") == "new")
        }
    }
}
