// feedbus: what must outlive the process: cursors, the logs of durable subjects, dead letters.

import FeedbusBase
import FeedbusLoop
import Synchronization

/// The state folder of one feedbus: an SQLite database in WAL mode, and a lock that keeps other processes out.
///
/// Every call runs on the loop's thread pool. What waits to be written goes into one transaction, in the order of the
/// calls; reading a log has a connection of its own. With `synchronous=NORMAL` a crash of the process loses nothing. A
/// power cut may lose the last commits, all that came after some point: events that are lost from a log are lost together
/// with the cursor that was saved after them, and so come again.
package final class StateStore: Sendable {
    /// The layout of the database, in its `user_version`.
    package static let schemaVersion = StateSchema.version
    /// The most pieces of work of one transaction.
    private static let jobsOfCommit = 64

    private let host: any LoopHost
    private let writer: StateWriter
    private let reader: StateReader
    private let writes: WorkLine<WriteJob>
    private let reads: WorkLine<@Sendable () -> Void>
    /// The new name of a damaged database that was kept aside at the start.
    package let keptAside: String?

    private init(host: any LoopHost, writer: StateWriter, path: String, keptAside: String?) {
        self.host = host
        self.writer = writer
        self.reader = StateReader(path: path)
        self.keptAside = keptAside
        writes = WorkLine(host: host, most: Self.jobsOfCommit) { writer.commit($0) }
        reads = WorkLine(host: host, most: 1) { jobs in for job in jobs { job() } }
    }

    /// Opens the folder, and makes it where it is missing.
    /// - Parameter asideAt: keeps a damaged database aside, under a name with this time, and begins afresh.
    /// - Throws: `FeedbusError` with one of the codes `state.open`, `state.locked` (another process has it),
    ///   `state.corrupt`, `state.newer` (written by a later version of feedbus), `state.foreign`.
    package static func open(
        folder: String, on host: any LoopHost, sync: StoreSync = .normal, keepDamagedAside asideAt: WallTime? = nil
    ) async throws -> StateStore {
        try await host.offload {
            let state = try StateFolder(folder: folder, sync: sync)
            let path = state.path
            var aside: String?
            do {
                try state.openExisting()
            } catch let error as FeedbusError where error.code == "state.corrupt" {
                guard let asideAt else { throw error }
                aside = try DamagedState.setAside(path, at: asideAt)
            }
            return StateStore(host: host, writer: StateWriter(state), path: path, keptAside: aside)
        }
    }

    /// What was last saved for a node; nil if nothing was.
    package func cursor(node: String, key: String) async throws -> Bytes? {
        try await host.offload { [writer] in
            try writer.read { database in
                try database.connection.first(
                    "SELECT value FROM cursors WHERE node = ? AND key = ?",
                    {
                        $0.bind(1, node)
                        $0.bind(2, key)
                    }, { $0.bytes(0) })
            } ?? nil
        }
    }

    /// Saves all of it or nothing; a nil value forgets the key.
    package func save(_ updates: [(node: String, key: String, value: Bytes?)]) async throws {
        try await write { database in
            for update in updates {
                if let value = update.value {
                    try database.connection.run("INSERT OR REPLACE INTO cursors (node, key, value) VALUES (?, ?, ?)") {
                        $0.bind(1, update.node)
                        $0.bind(2, update.key)
                        $0.bind(3, value, asText: false)
                    }
                } else {
                    try database.connection.run("DELETE FROM cursors WHERE node = ? AND key = ?") {
                        $0.bind(1, update.node)
                        $0.bind(2, update.key)
                    }
                }
            }
        }
    }

    /// Saves what services have said last about their rate limits.
    package func save(_ budgets: [ServiceBudget]) async throws {
        try await write { database in try BudgetTable.save(budgets, database.connection) }
    }

    /// Gives back what SQLite keeps in memory of the database: up to 2 MB of pages.
    package func releaseMemory() async throws {
        try await host.offload { [writer] in
            _ = try writer.read { try $0.connection.execute("PRAGMA shrink_memory") }
        }
    }

    /// Closes the database and frees the folder. Later calls throw.
    package func close() async {
        _ = try? await host.offload { [writer, reader] in
            reader.close()
            writer.close()
        }
    }

    // MARK: - The two lines

    private final class Answer<Result: Sendable>: Sendable {
        let value = Mutex<Result?>(nil)
    }

    /// Runs `body` as a part of the next transaction.
    func write<Result: Sendable>(_ body: @escaping @Sendable (StateDatabase) throws -> Result) async throws -> Result {
        try await withUnsafeThrowingContinuation { continuation in
            let answer = Answer<Result>()
            writes.add(
                WriteJob(
                    perform: { database in
                        let result = try body(database)
                        answer.value.withLock { $0 = result }
                    },
                    finish: { error in
                        if let error {
                            continuation.resume(throwing: error)
                        } else {
                            continuation.resume(returning: answer.value.withLock { $0! })  // performed before
                        }
                    }))
        }
    }

    /// Runs `body` on the second connection; nil where there is no database yet.
    func read<Result: Sendable>(_ body: @escaping @Sendable (StateDatabase) throws -> Result) async throws -> Result? {
        try await withUnsafeThrowingContinuation { continuation in
            reads.add { [reader] in
                continuation.resume(with: Swift.Result { try reader.read(body) })
            }
        }
    }
}
