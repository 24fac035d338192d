// feedbus: what must outlive the process: the cursors of the sources.

import FeedbusBase
import FeedbusLoop
import Glibc
import Synchronization

/// The state folder of one feedbus: an SQLite database in WAL mode, and a lock that keeps other processes out.
///
/// Every call runs on the loop's thread pool. The database is written with `synchronous=NORMAL`: a crash of the process
/// loses nothing; a power cut may lose the last cursors, and then events come twice, which at-least-once allows.
package final class StateStore: Sendable {
    /// The layout of the database, in its `user_version`.
    package static let schemaVersion = 1
    /// Marks the database as feedbus's: "fbus".
    private static let applicationID = 0x6662_7573

    private final class Open {
        private let folder: String
        private let path: String
        private var lock: FolderLock
        private var opened: SQLiteConnection?
        private var isGone = false

        /// A database that exists is opened and looked at now. A new one is made at the first save: its making waits for
        /// the disk several times, and the first events need not.
        init(folder: String, lock: FolderLock) throws {
            self.folder = folder
            path = folder + "/feedbus.sqlite"
            self.lock = lock
            if access(path, F_OK) == 0 { opened = try StateStore.openDatabase(path) }
        }

        /// Nil before the first save.
        var existing: SQLiteConnection? { opened }

        /// - Throws: `state.gone`, once, where the folder or the database was deleted or replaced while it was in use:
        ///   what is written to a deleted file is lost with no error. The next call begins afresh.
        func connection() throws -> SQLiteConnection {
            if isGone {
                try StateStore.makeFolder(folder)
                if !lock.isAt(folder) { lock = try FolderLock(folder: folder) }
                isGone = false
            } else if !lock.isAt(folder) || opened?.isAtItsPath == false {
                isGone = true
                opened = nil
                throw FeedbusError(
                    "state.gone",
                    "the state in \(folder) was deleted or replaced while it was in use, and is made anew: what was"
                        + " delivered before may be delivered again after the next start", isRetriable: true)
            }
            if let opened { return opened }
            let made = try StateStore.openDatabase(path)
            opened = made
            return made
        }
    }

    private let host: any LoopHost
    private let state: Mutex<Open?>

    private init(host: any LoopHost, open: sending Open) {
        self.host = host
        self.state = Mutex(open)
    }

    /// Opens the folder, and makes it where it is missing.
    /// - Throws: `FeedbusError` with one of the codes `state.open`, `state.locked` (another process has it),
    ///   `state.corrupt`, `state.newer` (written by a later version of feedbus).
    package static func open(folder: String, on host: any LoopHost) async throws -> StateStore {
        try await host.offload { try openNow(folder: folder, host: host) }
    }

    private static func openNow(folder: String, host: any LoopHost) throws -> StateStore {
        try makeFolder(folder)
        return StateStore(host: host, open: try Open(folder: folder, lock: try FolderLock(folder: folder)))
    }

    private static func openDatabase(_ path: String) throws -> SQLiteConnection {
        let connection = try SQLiteConnection(path: path)
        try checkOwner(connection)
        try connection.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;")
        let version = try connection.number("PRAGMA user_version")
        guard version <= schemaVersion else {
            throw FeedbusError(
                "state.newer",
                "the state database \(connection.path) has schema \(version); this feedbus knows \(schemaVersion)."
                    + " Use the newer feedbus, or another \"state\" folder")
        }
        if version < 1 {
            try connection.transaction {
                try connection.execute(
                    """
                    CREATE TABLE cursors (node TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL,
                                          PRIMARY KEY (node, key)) WITHOUT ROWID;
                    PRAGMA application_id = \(applicationID);
                    PRAGMA user_version = 1;
                    """)
            }
        }
        // The file is small: a damaged page shows now, and not in the middle of a run.
        let found = try connection.row("PRAGMA quick_check(1)", []) { $0(0)?.string } ?? nil
        if let found, found != "ok" { throw connection.damaged(found) }
        return connection
    }

    /// A database of some other program is let be.
    private static func checkOwner(_ connection: SQLiteConnection) throws {
        let owner = try connection.number("PRAGMA application_id")
        // 0 is a database that was just made, or one of a feedbus that did not sign it yet.
        let isUnsigned = owner == 0
        let tables = try connection.number("SELECT count(*) FROM sqlite_schema WHERE name <> 'cursors'")
        if owner == applicationID || (isUnsigned && tables == 0) { return }
        throw FeedbusError(
            "state.foreign",
            "the database \(connection.path) belongs to another program; set \"state\" to another folder")
    }

    private static func makeFolder(_ folder: String) throws {
        var path = folder.hasPrefix("/") ? "" : "."
        for part in folder.split(separator: "/") {
            path += "/" + part
            if mkdir(path, 0o755) != 0 && errno != EEXIST {
                throw FeedbusError(
                    "state.open", "the state folder \(folder) cannot be made: \(path): \(systemError(errno))")
            }
        }
    }

    /// What was last saved for a node; nil if nothing was.
    package func cursor(node: String, key: String) async throws -> Bytes? {
        try await use { open in
            try open.existing?.row("SELECT value FROM cursors WHERE node = ? AND key = ?", [.text(node), .text(key)]) {
                $0(0)
            }
                ?? nil
        }
    }

    /// Saves all of it or nothing; a nil value forgets the key.
    package func save(_ updates: [(node: String, key: String, value: Bytes?)]) async throws {
        try await use { open in
            let connection = try open.connection()
            try connection.transaction {
                for update in updates {
                    if let value = update.value {
                        try connection.run(
                            "INSERT OR REPLACE INTO cursors (node, key, value) VALUES (?, ?, ?)",
                            [.text(update.node), .text(update.key), .blob(value)])
                    } else {
                        try connection.run(
                            "DELETE FROM cursors WHERE node = ? AND key = ?", [.text(update.node), .text(update.key)])
                    }
                }
            }
        }
    }

    /// Closes the database and frees the folder. Later calls throw.
    package func close() async {
        _ = try? await host.offload { self.state.withLock { $0 = nil } }
    }

    private func use<Result: Sendable>(
        _ body: @escaping @Sendable (Open) throws -> Result
    ) async throws -> Result {
        try await host.offload {
            try self.state.withLock { open in
                guard let open else { throw FeedbusError("state.closed", "the state store is closed") }
                return try body(open)
            }
        }
    }
}
