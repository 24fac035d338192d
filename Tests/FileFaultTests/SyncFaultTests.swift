// feedbus: fsync under the JSON-lines sink: how often it is called, and what a failed one means.

import FeedbusPlugin
import FeedbusTestKit
import Glibc
import Testing

@testable import JSONLinesPlugin

struct SyncFaultTests {
    @Test(arguments: ["data", "cloudevents"])
    func oneSyncABatch(format: String) throws {
        try withRig(", \"fsync\": \"batch\"", format: format) { rig in
            try await rig.sink.open()
            for number in 0..<50 {
                try await rig.sink.write(numbered(number * 10..<number * 10 + 10))
                #expect(rig.files.count(.sync) == number + 1)
                #expect(rig.files.isSafe(rig.path))
            }
            try await rig.sink.close()
            #expect(rig.files.count(.sync) == 50)
            #expect(rig.files.count(.write) == 50)
            // The name of the new file.
            #expect(rig.files.count(.syncFolder) == 1)
        }
    }

    @Test func noSyncWhereNoneIsAskedFor() throws {
        try withRig { rig in
            try await rig.sink.open()
            for number in 0..<50 { try await rig.sink.write(numbered(number..<number + 1)) }
            try await rig.sink.close()
            #expect(rig.files.count(.sync) == 0)
            #expect(rig.files.count(.write) == 50)
            #expect(rig.files.count(.reserve) == 1)
        }
    }

    /// A batch that runs over several files is synced in each of them.
    @Test func eachFileOfABatchIsSynced() throws {
        try withRig(", \"fsync\": \"batch\", \"rotate\": {\"size\": \"1KiB\"}") { rig in
            try await rig.sink.open()
            for start in stride(from: 0, to: 600, by: 200) {
                try await rig.sink.write(numbered(start..<start + 200))
                for name in rig.names { #expect(rig.files.isSafe("\(rig.folder)/\(name)"), "\(name)") }
            }
            try await rig.sink.close()
            #expect(rig.names.count >= 5)
        }
    }

    /// What a failed fsync has made the system forget is written once more, in its place.
    @Test(arguments: [EIO, ENOSPC, EDQUOT], ["data", "cloudevents"])
    func aFailedSyncLosesNothing(number: Int32, format: String) throws {
        try withRig(", \"fsync\": \"batch\"", format: format) { rig in
            try await rig.sink.open()
            try await rig.sink.write(numbered(0..<5))
            rig.files.script(.sync, [.fails(number), .fails(number), .fails(number)])
            rig.files.script(.rewrite, [.fails(ENOSPC), .takes(7), .fails(EIO)])
            try await rig.sink.write(numbered(5..<10))
            #expect(rig.files.isSafe(rig.path))
            try await rig.sink.close()
            let whole = LineText(numbered(0..<10), format: LineFormat(rawValue: format)!).bytes.string
            #expect(rig.read() == whole)
            #expect(rig.errors.first?.contains("synchronize \(rig.path)") == true)
            #expect(rig.recoveries.count == 1)
        }
    }

    @Test func aNameThatCannotBeSyncedIsWaitedFor() throws {
        try withRig(", \"fsync\": \"batch\"") { rig in
            rig.files.script(.syncFolder, [.fails(EIO)])
            try await rig.sink.open()
            try await rig.sink.write(numbered(0..<5))
            try await rig.sink.close()
            #expect(rig.files.count(.syncFolder) == 2)
            #expect(rig.errors.count == 1 && rig.recoveries.count == 1)
            #expect(rig.read() == lines(0..<5))
        }
    }

    /// Where the lines do not stand there any more they are written behind what does.
    @Test func linesThatAreGoneAreWrittenAgain() throws {
        try withRig(", \"fsync\": \"batch\"") { rig in
            try await rig.sink.open()
            try await rig.sink.write(numbered(0..<2))
            rig.files.script(.sync, [.fails(EIO)])
            let writing = rig.bench.context().task { try await rig.sink.write(numbered(2..<4)) }
            try await rig.pass(.milliseconds(1))
            truncate(rig.path, lines(0..<2).utf8.count)
            try await writing.value
            try await rig.sink.close()
            #expect(rig.read() == lines(0..<4))
            #expect(rig.files.isSafe(rig.path))
        }
    }

    // MARK: - After a time

    @Test func linesAreSyncedInTime() throws {
        try withRig(", \"fsync\": \"5s\"") { rig in
            try await rig.sink.open()
            for number in 0..<10 {
                try await rig.sink.write(numbered(number..<number + 1))
                try await rig.pass(.seconds(1))
            }
            try await rig.pass(.seconds(5))
            #expect(rig.files.isSafe(rig.path))
            #expect(rig.files.count(.sync) == 2)
            try await rig.sink.close()
            // There was nothing more to do.
            #expect(rig.files.count(.sync) == 2)
        }
    }

    @Test func aSyncThatFailsInItsTimeIsTriedAgain() throws {
        try withRig(", \"fsync\": \"1s\"") { rig in
            try await rig.sink.open()
            try await rig.sink.write(numbered(0..<3))
            rig.files.script(.sync, Array(repeating: .fails(EIO), count: 3))
            try await rig.pass(.milliseconds(1_100))
            try await rig.sink.write(numbered(3..<4))
            #expect(rig.errors.count == 1)
            #expect(rig.errors.first?.contains("power cut") == true)
            try await rig.pass(.seconds(10))
            #expect(rig.recoveries.count == 1)
            #expect(rig.files.isSafe(rig.path))
            #expect(rig.read() == lines(0..<4))
            try await rig.sink.close()
        }
    }

    @Test func whatCannotBeSyncedAtTheEndFailsTheEnd() throws {
        try withRig(", \"fsync\": \"60s\"") { rig in
            try await rig.sink.open()
            try await rig.sink.write(numbered(0..<3))
            rig.files.always(.sync, .fails(EIO))
            await #expect {
                try await rig.sink.close()
            } throws: {
                ($0 as? FeedbusError)?.code == "file.end"
            }
        }
    }
}
