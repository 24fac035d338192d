// feedbus: what outlives a run, on a real SQLite file.

import CSQLite
import FeedbusBase
import FeedbusLoop
import FeedbusStore
import Glibc
import Testing

/// A host whose pool is the caller's own thread.
private final class HereHost: LoopHost {
    var serialExecutor: UnownedSerialExecutor { fatalError("not used by the store") }
    var taskExecutor: any TaskExecutor { globalConcurrentExecutor }

    func offload<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T { try work() }
    func spawn(_ command: ChildCommand) async throws -> ChildProcess { throw FeedbusError("test", "no children here") }
}

struct StateStoreTests {
    private let host = HereHost()

    /// A folder that is deleted at the end.
    private func withFolder(_ body: (String) async throws -> Void) async throws {
        var name = Array("/tmp/feedbus-store-test-XXXXXX".utf8CString)
        let path = name.withUnsafeMutableBufferPointer { String(cString: mkdtemp($0.baseAddress!)) }
        defer {
            for file in ["feedbus.sqlite", "feedbus.sqlite-wal", "feedbus.sqlite-shm", "lock"] {
                unlink("\(path)/state/\(file)")
            }
            rmdir("\(path)/state")
            rmdir(path)
        }
        try await body("\(path)/state")
    }

    /// Runs SQL on the file, beside the store.
    private func execute(_ sql: String, in folder: String) {
        mkdir(folder, 0o755)
        var handle: OpaquePointer?
        #expect(sqlite3_open("\(folder)/feedbus.sqlite", &handle) == SQLITE_OK)
        #expect(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK)
        sqlite3_close(handle)
    }

    private func code(_ folder: String) async -> FeedbusError.Code? {
        do {
            await (try StateStore.open(folder: folder, on: host)).close()
            return nil
        } catch {
            return (error as? FeedbusError)?.code
        }
    }

    @Test func cursorsOutliveTheStore() async throws {
        try await withFolder { folder in
            let store = try await StateStore.open(folder: folder, on: host)
            #expect(try await store.cursor(node: "rx", key: "cursor") == nil)
            let odd = Bytes([0, 255, 10, 0])
            try await store.save([("rx", "cursor", "one"), ("rx", "other", odd), ("top", "cursor", Bytes())])
            try await store.save([("rx", "cursor", "two")])
            await store.close()
            await #expect(throws: FeedbusError.self) { _ = try await store.cursor(node: "rx", key: "cursor") }
            let again = try await StateStore.open(folder: folder, on: host)
            #expect(try await again.cursor(node: "rx", key: "cursor") == "two")
            #expect(try await again.cursor(node: "rx", key: "other") == odd)
            #expect(try await again.cursor(node: "top", key: "cursor") == Bytes())
            try await again.save([("rx", "cursor", nil), ("rx", "none", nil)])
            #expect(try await again.cursor(node: "rx", key: "cursor") == nil)
            await again.close()
        }
    }

    @Test func noDatabaseIsMadeBeforeTheFirstSave() async throws {
        try await withFolder { folder in
            let store = try await StateStore.open(folder: folder, on: host)
            #expect(try await store.cursor(node: "rx", key: "cursor") == nil)
            #expect(access(folder + "/feedbus.sqlite", F_OK) != 0)
            try await store.save([("rx", "cursor", "1")])
            #expect(access(folder + "/feedbus.sqlite", F_OK) == 0)
            await store.close()
        }
    }

    @Test func stateThatIsDeletedWhileInUseIsMissedOnceAndMadeAnew() async throws {
        for onlyTheFile in [true, false] {
            try await withFolder { folder in
                let store = try await StateStore.open(folder: folder, on: host)
                try await store.save([("rx", "cursor", "1")])
                for file in ["feedbus.sqlite", "feedbus.sqlite-wal", "feedbus.sqlite-shm"] {
                    unlink("\(folder)/\(file)")
                }
                if !onlyTheFile {
                    unlink("\(folder)/lock")
                    rmdir(folder)
                }
                await #expect {
                    try await store.save([("rx", "cursor", "2")])
                } throws: { error in
                    let error = error as? FeedbusError
                    return error?.code == "state.gone" && error?.isRetriable == true
                }
                try await store.save([("rx", "cursor", "2")])
                // The folder is ours again, too.
                #expect(await code(folder) == "state.locked")
                await store.close()
                let again = try await StateStore.open(folder: folder, on: host)
                #expect(try await again.cursor(node: "rx", key: "cursor") == "2")
                await again.close()
            }
        }
    }

    @Test func theFolderIsForOneProgram() async throws {
        try await withFolder { folder in
            let store = try await StateStore.open(folder: folder, on: host)
            // flock(2) counts open files, not processes: a second store in this process is refused as well.
            await #expect {
                _ = try await StateStore.open(folder: folder, on: host)
            } throws: { error in
                let error = error as? FeedbusError
                return error?.code == "state.locked" && error?.message.contains("process \(getpid())") == true
            }
            await store.close()
            #expect(await code(folder) == nil)
        }
    }

    /// A child that is just being started has a copy of every descriptor, and with it of the lock, until its exec(2).
    @Test func theFolderIsFreeThoughAChildHasACopyOfTheLock() async throws {
        try await withFolder { folder in
            let store = try await StateStore.open(folder: folder, on: host)
            let copy = try #require(copyOfDescriptor(of: "\(folder)/lock"))
            await store.close()
            #expect(await code(folder) == nil)
            close(copy)
        }
    }

    /// A copy of this process's descriptor of a file; nil where it has none.
    private func copyOfDescriptor(of path: String) -> Int32? {
        var there = stat()
        guard stat(path, &there) == 0 else { return nil }
        return (3..<1_024).lazy.filter { number in
            var status = stat()
            return fstat(number, &status) == 0 && status.st_dev == there.st_dev && status.st_ino == there.st_ino
        }.map { fcntl($0, F_DUPFD_CLOEXEC, 3) }.first
    }

    @Test func aFileThatIsNoDatabaseIsDamaged() async throws {
        try await withFolder { folder in
            mkdir(folder, 0o755)
            let file = fopen("\(folder)/feedbus.sqlite", "w")
            fputs(String(repeating: "this is no database\n", count: 500), file)
            fclose(file)
            #expect(await code(folder) == "state.corrupt")
        }
    }

    @Test func aDamagedPageIsFoundAtTheStart() async throws {
        try await withFolder { folder in
            let store = try await StateStore.open(folder: folder, on: host)
            try await store.save(
                (0..<500).map { ("rx", "key\($0)", Bytes("value \($0) \(String(repeating: "x", count: 100))")) })
            await store.close()
            let file = fopen("\(folder)/feedbus.sqlite", "r+")
            fseek(file, 3 * 4_096, SEEK_SET)
            fputs(String(repeating: "#", count: 4_096), file)
            fclose(file)
            #expect(await code(folder) == "state.corrupt")
        }
    }

    @Test func aNewerSchemaIsRefused() async throws {
        try await withFolder { folder in
            #expect(await code(folder) == nil)
            execute("PRAGMA user_version = 99", in: folder)
            #expect(await code(folder) == "state.newer")
        }
    }

    @Test func anotherProgramsDatabaseIsLetBe() async throws {
        try await withFolder { folder in
            execute("CREATE TABLE theirs (a); PRAGMA application_id = 17", in: folder)
            #expect(await code(folder) == "state.foreign")
        }
        try await withFolder { folder in
            execute("CREATE TABLE theirs (a)", in: folder)
            #expect(await code(folder) == "state.foreign")
        }
    }

    @Test func aFolderThatCannotBeMadeIsSaid() async throws {
        #expect(await code("/dev/null/state") == "state.open")
    }
}
