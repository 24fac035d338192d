// feedbus: each way in which open, write and rename can fail under the JSON-lines sink.

import FeedbusPlugin
import FeedbusTestKit
import Glibc
import Testing

@testable import JSONLinesPlugin

struct WriteFaultTests {
    @Test(arguments: [ENOSPC, EDQUOT, EIO, EFBIG, EAGAIN, EROFS])
    func aWriteThatFailsIsWaitedOut(number: Int32) throws {
        try withRig { rig in
            try await rig.sink.open()
            try await rig.sink.write(numbered(0..<2))
            rig.files.always(.write, .fails(number))
            let writing = rig.bench.context().task { try await rig.sink.write(numbered(2..<4)) }
            try await rig.pass(.milliseconds(7_700))
            rig.files.always(.write, nil)
            try await writing.value
            try await rig.sink.write(numbered(4..<5))
            try await rig.sink.close()
            #expect(rig.read() == lines(0..<5))
            #expect(rig.errors.count == 1)
            #expect(rig.errors.first?.contains(rig.path) == true)
            #expect(rig.errors.first?.contains("nothing is lost") == true)
            #expect(rig.recoveries.count == 1)
            // 250 ms, 500 ms, 1, 2 and 4 s.
            #expect(rig.recoveries.first?.contains("goes on after 7750ms") == true, "\(rig.recoveries)")
        }
    }

    @Test func anInterruptionIsNoFailure() throws {
        try withRig(", \"fsync\": \"batch\"") { rig in
            for call in [FaultyFiles.Call.open, .write, .reserve, .sync] { rig.files.script(call, [.fails(EINTR)]) }
            try await rig.sink.open()
            try await rig.sink.write(numbered(0..<3))
            try await rig.sink.close()
            #expect(rig.read() == lines(0..<3))
            #expect(rig.warnings == [])
        }
    }

    /// Wherever the disk stops in a batch, and whatever else fails then: no line is glued, torn, lost or there twice.
    @Test(arguments: ["data", "cloudevents"])
    func aWriteThatIsCutOffAnywhere(format: String) throws {
        let whole = LineText(numbered(0..<4), format: LineFormat(rawValue: format)!).bytes
        for cut in 1..<whole.count {
            try withRig(format: format) { rig in
                try await rig.sink.open()
                rig.files.script(.write, [.takes(cut), .fails(ENOSPC), .fails(EIO)])
                // The beginning of a line cannot be taken back at once, either.
                if cut % 3 == 0 { rig.files.script(.truncate, [.fails(EIO), .fails(EIO)]) }
                try await rig.sink.write(numbered(0..<4))
                try await rig.sink.close()
                #expect(rig.read() == whole.string, "cut at \(cut)")
                #expect(rig.recoveries.count <= 2)
            }
        }
    }

    /// A full disk is met before anything of the batch is in the file.
    @Test(arguments: [ENOSPC, EDQUOT])
    func aFullDiskShowsNoHalfOfALine(number: Int32) throws {
        try withRig { rig in
            try await rig.sink.open()
            try await rig.sink.write(numbered(0..<2))
            rig.files.always(.reserve, .fails(number))
            let before = rig.files.count(.write)
            // More than the room that was reserved before.
            let writing = rig.bench.context().task {
                try await rig.sink.write(numbered(2..<4, pad: { _ in 100_000 }))
            }
            try await rig.pass(.seconds(60))
            #expect(rig.files.count(.write) == before)
            #expect(rig.read() == lines(0..<2))
            rig.files.always(.reserve, nil)
            try await writing.value
            try await rig.sink.close()
            #expect(rig.read().hasPrefix(lines(0..<2) + "{\"n\":2,\"x\":\"y"))
            #expect(rig.read().utf8.count > 200_000)
            #expect(rig.errors.count == 1 && rig.recoveries.count == 1)
        }
    }

    /// What has room of a batch goes into the file.
    @Test func whatHasRoomIsWritten() throws {
        try withRig(", \"rotate\": {\"size\": \"1GiB\"}") { rig in
            try await rig.sink.open()
            try await rig.sink.write(numbered(0..<1))
            // Room for two of the eight lines.
            rig.files.script(.reserve, Array(repeating: .fails(ENOSPC), count: 2))
            try await rig.sink.write(numbered(1..<9, pad: { _ in 100_000 }))
            try await rig.sink.close()
            #expect(rig.files.count(.write) > 2)
            #expect(rig.errors == [])
            #expect(rig.read().split(separator: "\n").map { $0.prefix(6) } == (0..<9).map { "{\"n\":\($0)" })
        }
    }

    @Test func aFileSystemThatReservesNothingIsAsGood() throws {
        try withRig { rig in
            rig.files.always(.reserve, .fails(EOPNOTSUPP))
            try await rig.sink.open()
            for number in 0..<20 { try await rig.sink.write(numbered(number..<number + 1)) }
            try await rig.sink.close()
            #expect(rig.read() == lines(0..<20))
            #expect(rig.files.count(.reserve) == 1)
        }
    }

    @Test func anotherReasonIsNews() throws {
        try withRig { rig in
            try await rig.sink.open()
            rig.files.script(.write, [.fails(ENOSPC), .fails(ENOSPC), .fails(EIO), .fails(EIO)])
            try await rig.sink.write(numbered(0..<1))
            try await rig.sink.close()
            #expect(rig.errors.count == 2)
            #expect(rig.errors.first?.contains("ENOSPC") == true && rig.errors.last?.contains("EIO") == true)
            #expect(rig.recoveries.count == 1)
        }
    }

    // MARK: - open

    @Test(arguments: [EMFILE, ENFILE, ENOSPC, EIO])
    func aShortageAtTheStartIsWaitedOut(number: Int32) throws {
        try withRig { rig in
            rig.files.script(.open, Array(repeating: .fails(number), count: 3))
            try await rig.sink.open()
            #expect(rig.errors.count == 1)
            #expect(rig.errors.first?.contains(rig.path) == true)
            #expect(rig.recoveries.count == 1)
            try await rig.sink.write(numbered(0..<3))
            try await rig.sink.close()
            #expect(rig.read() == lines(0..<3))
        }
    }

    @Test(arguments: [(EACCES, true), (ENOENT, true), (EROFS, true), (EISDIR, false), (ENOTDIR, false)])
    func whatSomebodyHasToPutRightFailsTheStart(number: Int32, isRetriable: Bool) throws {
        try withRig { rig in
            rig.files.script(.open, [.fails(number)])
            await #expect {
                try await rig.sink.open()
            } throws: { error in
                let error = error as? FeedbusError
                return error?.code == "file.open" && error?.isRetriable == isRetriable
                    && error?.message.contains(rig.path) == true
            }
        }
    }

    /// While it runs, no failure to open is for good: not after a rename, not at a SIGHUP.
    @Test(arguments: [EMFILE, EACCES, ENOENT, EISDIR, EROFS], [true, false])
    func whileItRunsItWaitsForTheFile(number: Int32, isSIGHUP: Bool) throws {
        try withRig { rig in
            try await rig.sink.open()
            try await rig.sink.write(numbered(0..<2))
            rename(rig.path, rig.folder + "/old")
            try await rig.pass(.seconds(1))
            rig.files.script(.open, [.fails(number), .fails(number)])
            if isSIGHUP { try await rig.sink.reopen() }
            try await rig.sink.write(numbered(2..<4))
            try await rig.sink.close()
            #expect(rig.read("old") == lines(0..<2))
            #expect(rig.read() == lines(2..<4))
            #expect(rig.errors.count == 1)
            #expect(rig.recoveries.count == 1)
        }
    }

    // MARK: - rename, close

    @Test(arguments: [EACCES, ENOSPC, EXDEV])
    func aRenameThatFailsIsWaitedOut(number: Int32) throws {
        try withRig(", \"rotate\": {\"size\": \"1KiB\"}") { rig in
            try await rig.sink.open()
            try await rig.sink.write(numbered(0..<100))
            rig.files.script(.rename, [.fails(number), .fails(number)])
            try await rig.sink.write(numbered(100..<200))
            try await rig.sink.close()
            let old = rig.names.filter { $0 != "log.jsonl" }
            #expect(
                (old + ["log.jsonl"]).allSatisfy { rig.read($0).utf8.count <= 1_024 && rig.read($0).hasSuffix("\n") })
            #expect(rig.names.map { rig.read($0).split(separator: "\n").count }.reduce(0, +) == 200)
            #expect(rig.errors.count == 1)
            #expect(rig.errors.first?.contains("rename \(rig.path)") == true)
            #expect(rig.recoveries.count == 1)
        }
    }

    @Test func aCloseThatFailsIsSaid() throws {
        try withRig { rig in
            try await rig.sink.open()
            try await rig.sink.write(numbered(0..<1))
            rig.files.script(.close, [.fails(EIO)])
            try await rig.sink.close()
            #expect(rig.errors.count == 1)
            #expect(rig.read() == lines(0..<1))
        }
    }
}
