// feedbus: what outlives a run, on a real SQLite file.

import CSQLite
import FeedbusBase
import FeedbusLoop
import FeedbusStore
import Glibc
import Testing

struct StateStoreTests {
    private func withFolder(_ body: (String) async throws -> Void) async throws {
        try await StateBench.run { try await body($0.folder) }
    }

    private let host = HereHost()

    private func code(_ folder: String) async -> FeedbusError.Code? { await StateBench(folder: folder).refusal()?.code }

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

    /// A child that a killed program was just starting has its lock for a moment longer.
    @Test func theLockOfADeadProgramIsWaitedFor() async throws {
        try await withFolder { folder in
            mkdir(folder, 0o755)
            let file = open("\(folder)/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
            #expect(flock(file, LOCK_EX) == 0)
            // Above what the system gives to a process.
            let owner = "99999999\n"
            #expect(write(file, owner, owner.utf8.count) == owner.utf8.count)
            async let opening = StateStore.open(folder: folder, on: host)
            _ = try await host.offload {
                poll(nil, 0, 30)
                close(file)
            }
            await (try opening).close()
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
            let bench = StateBench(folder: folder)
            let store = try await bench.open()
            try await store.save([("rx", "cursor", "1")])
            await store.close()
            bench.execute("PRAGMA user_version = 99")
            let refusal = await bench.refusal()
            #expect(refusal?.code == "state.newer")
            #expect(refusal?.message.contains("schema 99") == true)
        }
    }

    @Test func anotherProgramsDatabaseIsLetBe() async throws {
        try await withFolder { folder in
            StateBench(folder: folder).execute("CREATE TABLE theirs (a); PRAGMA application_id = 17")
            #expect(await code(folder) == "state.foreign")
        }
        try await withFolder { folder in
            StateBench(folder: folder).execute("CREATE TABLE theirs (a)")
            #expect(await code(folder) == "state.foreign")
        }
    }

    @Test func aDatabaseOfTheFirstVersionIsBroughtUpToDate() async throws {
        try await StateBench.run { bench in
            bench.execute(
                """
                CREATE TABLE cursors (node TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL,
                                      PRIMARY KEY (node, key)) WITHOUT ROWID;
                PRAGMA application_id = \(0x6662_7573);
                PRAGMA user_version = 1;
                INSERT INTO cursors VALUES ('rx', 'cursor', x'31');
                """)
            let store = try await bench.open()
            #expect(try await store.cursor(node: "rx", key: "cursor") == "1")
            _ = try await store.openSubject("activity", readers: ["log"], replay: 5)
            await store.close()
            let again = try await bench.open()
            #expect(try await again.cursor(node: "rx", key: "cursor") == "1")
            await again.close()
        }
    }

    @Test(arguments: ["", String(repeating: "this is no database\n", count: 500), "SQLite format 3"])
    func aDamagedDatabaseIsKeptAsideWhereThatIsWanted(content: String) async throws {
        try await StateBench.run { bench in
            bench.write(content)
            let refusal = await bench.refusal()
            #expect(refusal?.code == "state.corrupt")
            #expect(refusal?.message.contains("--reset-state") == true)
            let time = WallTime(year: 2026, month: 11, day: 30, hour: 10, minute: 15)!
            let store = try await bench.open(asideAt: time)
            #expect(store.keptAside == "\(bench.path).corrupt-20261130T101500Z")
            try await store.save([("rx", "cursor", "1")])
            await store.close()
            #expect(bench.files.contains("feedbus.sqlite.corrupt-20261130T101500Z"))
            // A second one within the second keeps a name of its own; a whole one is let be.
            let whole = try await bench.open(asideAt: time)
            #expect(whole.keptAside == nil)
            #expect(try await whole.cursor(node: "rx", key: "cursor") == "1")
            await whole.close()
            for suffix in ["", "-wal", "-shm"] { unlink(bench.path + suffix) }
            bench.write(content)
            let third = try await bench.open(asideAt: time)
            #expect(third.keptAside == "\(bench.path).corrupt-20261130T101500Z-2")
            await third.close()
        }
    }

    @Test func aLogOfChangesWithoutItsDatabaseIsNotTakenForThatOfTheNextOne() async throws {
        try await StateBench.run { bench in
            let store = try await bench.open()
            try await store.save([("rx", "cursor", "old")])
            // Beside the store, so that its log of changes is still there.
            rename(bench.path, bench.path + ".gone")
            #expect(bench.files.contains("feedbus.sqlite-wal"))
            await #expect(throws: FeedbusError.self) { try await store.save([("rx", "cursor", "lost")]) }
            try await store.save([("rx", "other", "new")])
            #expect(try await store.cursor(node: "rx", key: "cursor") == nil)
            #expect(try await store.cursor(node: "rx", key: "other") == "new")
            await store.close()
        }
    }

    @Test func aFolderThatCannotBeMadeIsSaid() async throws {
        #expect(await code("/dev/null/state") == "state.open")
    }
}
