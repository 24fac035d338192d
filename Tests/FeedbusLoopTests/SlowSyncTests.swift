// feedbus: a disk whose fdatasync takes its time.

import FeedbusBase
import FeedbusLoop
import Glibc
import Testing

@Suite(.timeLimit(.minutes(1)))
struct SlowSyncTests {
    /// Lines go into the file while what stood there before is brought to the disk; the end waits for the disk.
    @Test func writesGoOnBesideASync() async throws {
        try await withLoop { loop in
            try await withFolder { folder in
                let disk = try SlowDisk()
                let file = try await OutputFile.open("\(folder)/log", on: SlowHost(base: loop, files: disk))
                _ = try await file.write("one\n")
                let sync = loop.task { try await file.synchronize() }
                try #require(try await loop.offload { disk.hasBegun() })
                _ = try await file.write("two\n")
                let size = try await file.size()
                #expect(size == 8)
                let end = loop.task { try await file.close() }
                disk.finish()
                #expect(try await sync.value == 4)
                try await end.value
            }
        }
    }

    /// Whether what was written anew during a sync is on the disk nobody knows.
    @Test func whatIsCutOffDuringASyncDoesNotCount() async throws {
        try await withLoop { loop in
            try await withFolder { folder in
                let disk = try SlowDisk()
                let file = try await OutputFile.open("\(folder)/log", on: SlowHost(base: loop, files: disk))
                _ = try await file.write("one\ntw")
                let sync = loop.task { try await file.synchronize() }
                try #require(try await loop.offload { disk.hasBegun() })
                try await file.truncate(to: 4)
                _ = try await file.write("two\n")
                disk.finish()
                #expect(try await sync.value == 4)
                let again = loop.task { try await file.synchronize() }
                try #require(try await loop.offload { disk.hasBegun() })
                disk.finish()
                #expect(try await again.value == 8)
                try await file.close()
            }
        }
    }
}

/// Each sync says on one pipe that it has begun, and waits at another until it may end.
private final class SlowDisk: FileSystem {
    private let begun: [Int32]
    private let over: [Int32]

    init() throws {
        func ends() throws -> [Int32] {
            var ends: [Int32] = [-1, -1]
            try #require(pipe(&ends) == 0)
            return ends
        }
        begun = try ends()
        over = try ends()
    }

    deinit {
        for end in begun + over { Glibc.close(end) }
    }

    func synchronizeData(_ descriptor: Int32) -> Int32 {
        SlowDisk.ring(begun[1])
        guard SlowDisk.wait(over[0]) else {
            errno = EIO
            return -1
        }
        return fdatasync(descriptor)
    }

    /// Blocks. False where nothing has come for long.
    func hasBegun() -> Bool { SlowDisk.wait(begun[0]) }

    func finish() { SlowDisk.ring(over[1]) }

    private static func ring(_ end: Int32) {
        var byte: UInt8 = 1
        _ = Glibc.write(end, &byte, 1)
    }

    private static func wait(_ end: Int32) -> Bool {
        var one = pollfd(fd: end, events: Int16(POLLIN), revents: 0)
        var byte: UInt8 = 0
        return poll(&one, 1, 20_000) == 1 && read(end, &byte, 1) == 1
    }
}

private struct SlowHost: FileHost {
    let base: any LoopHost
    let files: any FileSystem

    var serialExecutor: UnownedSerialExecutor { base.serialExecutor }
    var taskExecutor: any TaskExecutor { base.taskExecutor }

    func offload<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        try await base.offload(work)
    }

    func spawn(_ command: ChildCommand) async throws -> ChildProcess { try await base.spawn(command) }
}
