// feedbus: files.

import FeedbusBase
import FeedbusLoop
import Glibc
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1)))
struct FileTests {
    @Test func appendsAndReads() async throws {
        try await withLoop { loop in
            try await withFolder { folder in
                let path = "\(folder)/a/b/c.jsonl"
                let file = try await OutputFile.open(path, mode: 0o600, on: loop)
                #expect(!file.isTerminal)
                let written = try await file.write("one\n")
                #expect(written == 4)
                try await file.synchronize()
                // Somebody else appends; our next bytes stand behind theirs.
                let other = try await OutputFile.open(path, on: loop)
                _ = try await other.write("two\n")
                _ = try await file.write("three\n")
                let size = try await file.size()
                #expect(size == 14)
                let (all, part) = (try await file.read(at: 0, count: 100), try await file.read(at: 4, count: 3))
                #expect(all == "one\ntwo\nthree\n" && part == "two")
                try await file.truncate(to: 8)
                _ = try await file.write("end\n")
                let whole = try await readWholeFile(path, limit: 12, on: loop)
                #expect(whole == "one\ntwo\nend\n")
                var status = stat()
                #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
                try await file.close()
                try await file.close()
                await #expect(throws: FileError(errno: EBADF, operation: "write", path: path)) {
                    try await file.write("x")
                }
                #expect(loop.isOnLoop)
            }
        }
    }

    #if DEBUG
        @Test func aDescriptorThatIsClosedTwiceIsFatal() async {
            await #expect(processExitsWith: .failure) {
                let number = open("/dev/null", O_RDONLY | O_CLOEXEC)
                closeDescriptor(number)
                closeDescriptor(number)
            }
        }
    #endif

    @Test func anOwnedDescriptorIsClosedOnce() {
        func isOpen(_ number: Int32) -> Bool { fcntl(number, F_GETFD) != -1 }
        let number = open("/dev/null", O_RDONLY | O_CLOEXEC)
        do {
            let owned = OwnedDescriptor(number)
            #expect(isOpen(owned.number))
        }
        let other = OwnedDescriptor(open("/dev/full", O_WRONLY | O_CLOEXEC))
        #expect(other.close() == 0)
    }

    @Test func aLockKeepsOthersOutUntilTheFileIsClosed() async throws {
        try await withLoop { loop in
            try await withFolder { folder in
                let path = "\(folder)/locked"
                let (first, second) = (
                    try await OutputFile.open(path, on: loop), try await OutputFile.open(path, on: loop)
                )
                var locks = [try await first.lock(), try await second.lock(), try await first.lock()]
                #expect(locks == [true, false, true])
                try await first.close()
                locks = [try await second.lock()]
                #expect(locks == [true])
            }
        }
    }

    @Test func renamingIsNoticed() async throws {
        try await withLoop { loop in
            try await withFolder { folder in
                let path = "\(folder)/log"
                let file = try await OutputFile.open(path, on: loop)
                #expect(await file.isStillAt(path))
                try #require(rename(path, path + ".1") == 0)
                #expect(await !file.isStillAt(path))
                #expect(await file.isStillAt(path + ".1"))
                let next = try await OutputFile.open(path, on: loop)
                #expect(await !file.isStillAt(path))
                #expect(await next.isStillAt(path))
                try await next.close()
                #expect(await !next.isStillAt(path))
            }
        }
    }

    @Test func errorsNameTheFileAndTheReason() async throws {
        try await withLoop { loop in
            try await withFolder { folder in
                let isFolder = await failure { try await OutputFile.open(folder, on: loop) }
                #expect(isFolder?.errno == EISDIR && isFolder?.isFull == false)
                #expect(isFolder?.description == "cannot open \(folder): Is a directory")
                try await writeWholeFileAtomically("\(folder)/file", "", on: loop)
                await #expect(throws: FileError(errno: ENOTDIR, operation: "open", path: "\(folder)/file/below")) {
                    try await OutputFile.open("\(folder)/file/below", on: loop)
                }
                let missing = FileError(errno: ENOENT, operation: "open", path: "\(folder)/none")
                await #expect(throws: missing) { try await readWholeFile("\(folder)/none", limit: 1, on: loop) }
            }
        }
    }

    @Test func aFullDiskIsToldApart() async throws {
        try await withLoop { loop in
            let full = try await OutputFile.open("/dev/full", on: loop)
            let error = await failure { try await full.write("x") }
            #expect(error?.errno == ENOSPC && error?.isFull == true)
            #expect(FileError(errno: EFBIG, operation: "write to", path: "x").isFull)
        }
    }

    @Test func aWriteThatFindsNoRoomTakesNothing() async throws {
        try await withLoop { loop in
            try await withFolder { folder in
                // A child with a limit on the size of files would not use our code, and a limit of this process would
                // be one for all tests: a file close to the largest size that the file system allows does the same.
                let path = "\(folder)/large"
                let file = try await OutputFile.open(path, on: loop)
                var limit = 0
                // The largest size, by halving.
                var step = 1 << 62
                while step > 0 {
                    if (try? await file.truncate(to: limit + step)) != nil { limit += step }
                    step /= 2
                }
                try await file.truncate(to: limit - 3)
                let error = await failure { try await file.write("12345678") }
                #expect(error?.isFull == true)
                var size = try await file.size()
                #expect(size == limit - 3)
                let count = try await file.write("123")
                #expect(count == 3)
                size = try await file.size()
                #expect(size == limit)
                try await file.truncate(to: 0)
            }
        }
    }

    @Test func aStreamWaitsForItsReaderAndTheWaitCanBeCancelled() async throws {
        try await withLoop { loop in
            try await withFolder { folder in
                let path = "\(folder)/fifo"
                try #require(mkfifo(path, 0o600) == 0)
                let noReader = await failure { try await OutputFile.open(path, on: loop) }
                #expect(noReader?.errno == ENXIO)
                let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
                let file = try await OutputFile.open(path, on: loop)
                try await expectWaits(file, reader, loop)
                close(reader)
                let gone = await failure { try await file.write("x") }
                #expect(gone?.errno == EPIPE)
            }
        }
    }

    @Test func aBlockingStreamDoesNotBlockForEver() async throws {
        try await withLoop { loop in
            try await withFolder { folder in
                // As standard output is: shared, and not to be made non-blocking. By name, since a pipe(2) would be
                // inherited by the children of other tests.
                let path = "\(folder)/fifo"
                try #require(mkfifo(path, 0o600) == 0)
                let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
                let file = OutputFile(adopting: open(path, O_WRONLY | O_CLOEXEC), path: "pipe", on: loop)
                try await expectWaits(file, reader, loop)
                close(reader)
                let gone = await failure { try await file.write("x") }
                #expect(gone?.errno == EPIPE && gone?.description == "cannot write to pipe: Broken pipe")
            }
        }
    }

    /// Fills a pipe that nobody reads, and cancels the writes that wait.
    private func expectWaits(_ file: OutputFile, _ reader: Int32, _ loop: EventLoop) async throws {
        let task = loop.task { try await file.write(Bytes(Array(repeating: 0x61, count: 100_000))) }
        var held: Int32 = 0
        while held < 65_536 {
            _ = try await loop.offload { sched_yield() }
            _ = ioctl(reader, UInt(FIONREAD), &held)
        }
        task.cancel()
        let count = try await task.value
        #expect(count == 65_536)
        // Nothing at all is written now.
        let second = loop.task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await failure { try await file.write("x") }
        }
        let error = try await second.value
        #expect(error?.errno == ECANCELED)
    }

    @Test func wholeFilesAreReplaced() async throws {
        try await withLoop { loop in
            try await withFolder { folder in
                let path = "\(folder)/new/state.json"
                let large = Bytes(Array(repeating: 0x2E, count: 1 << 20))
                for content: Bytes in ["first", large, ""] {
                    try await writeWholeFileAtomically(path, content, mode: 0o600, on: loop)
                    let read = try await readWholeFile(path, limit: 1 << 20, on: loop)
                    #expect(read == content)
                }
                try await writeWholeFileAtomically(path, large, on: loop)
                await #expect(throws: FileError(errno: EFBIG, operation: "read", path: path)) {
                    try await readWholeFile(path, limit: (1 << 20) - 1, on: loop)
                }
                // No temporary file is left, also after a failure.
                try #require(mkdir("\(folder)/new/folder", 0o700) == 0)
                await #expect(throws: FileError.self) {
                    try await writeWholeFileAtomically("\(folder)/new/folder", "x", on: loop)
                }
                let child = try await loop.spawn(ChildCommand(["ls", "-A", "\(folder)/new"]))
                let names = try await readAll(child.readOutput)
                #expect(names == "folder\nstate.json\n")
                let size = try await readWholeFile("/proc/self/status", limit: 1 << 20, on: loop).count
                #expect(size > 0)
            }
        }
    }
}

/// The error that `body` throws; nil, with an issue, where it does not.
private func failure<T: Sendable>(_ body: () async throws -> T) async -> FileError? {
    do {
        _ = try await body()
        Issue.record("expected an error")
        return nil
    } catch {
        return error as? FileError
    }
}
