// feedbus: the layout of the state database, and how an older one becomes the present one.

import FeedbusBase
import FeedbusLoop
import Glibc

/// The layout, by the number in the database's `user_version`.
enum StateSchema {
    static let version = 3
    /// Marks the database as feedbus's: "fbus".
    static let applicationID = 0x6662_7573
    /// Up to this size all of a database is looked at when it is opened; of a larger one the small tables.
    private static let checkedWhole = 64 << 20

    /// What brings a database from version `index` to the next.
    private static let steps = [
        """
        CREATE TABLE cursors (node TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL,
                              PRIMARY KEY (node, key)) WITHOUT ROWID;
        PRAGMA application_id = \(applicationID);
        """,
        // The log of a subject is a table of its own, log_ID: its rows are then always added at the end.
        """
        CREATE TABLE subjects (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, next INTEGER NOT NULL,
                               events INTEGER NOT NULL, bytes INTEGER NOT NULL);
        CREATE TABLE subscribers (subject INTEGER NOT NULL, name TEXT NOT NULL, acked INTEGER NOT NULL,
                                  PRIMARY KEY (subject, name)) WITHOUT ROWID;
        CREATE TABLE origins (id INTEGER PRIMARY KEY, source TEXT NOT NULL, type TEXT NOT NULL, node TEXT NOT NULL,
                              recorded INTEGER NOT NULL, UNIQUE (source, type, node, recorded));
        CREATE TABLE dead_letters (number INTEGER PRIMARY KEY AUTOINCREMENT, node TEXT NOT NULL, reason TEXT NOT NULL,
                                   at INTEGER NOT NULL, size INTEGER NOT NULL, origin INTEGER, id TEXT, subject TEXT,
                                   time TEXT, attributes TEXT, data TEXT NOT NULL);
        """,
        """
        CREATE TABLE budgets (service TEXT NOT NULL, credential TEXT NOT NULL, resource TEXT NOT NULL, quota INTEGER,
                              remaining INTEGER NOT NULL, resets INTEGER, seen INTEGER NOT NULL,
                              PRIMARY KEY (service, credential, resource)) WITHOUT ROWID;
        """,
    ]

    /// Opens the database, brings it up to date, and looks whether it is whole.
    /// - Throws: `FeedbusError` with the code `state.open`, `state.corrupt`, `state.foreign` or `state.newer`.
    static func open(_ path: String, sync: StoreSync) throws -> SQLiteConnection {
        let connection = try openExisting(path)
        try connection.execute(
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=\(sync.rawValue); PRAGMA journal_size_limit=\(16 << 20);")
        let found = try connection.number("PRAGMA user_version")
        if found < version {
            try connection.transaction {
                for step in steps[found...] { try connection.execute(step) }
                try connection.execute("PRAGMA user_version = \(version)")
            }
        }
        try checkPages(connection)
        return connection
    }

    /// Opens the database as it is, to be read beside its owner or by a command.
    static func openExisting(_ path: String) throws -> SQLiteConnection {
        var info = stat()
        // SQLite would take it for a new one, also where one byte is left (it once wrote one into new files, to get round a
        // fault of a file system). We never leave one: a new database appears under its name when it is whole.
        if stat(path, &info) == 0, info.st_size <= 1 {
            throw DamagedState.error(path, "the file is empty: it was cut off")
        }
        let connection = try SQLiteConnection(path: path)
        try checkOwner(connection)
        let found = try connection.number("PRAGMA user_version")
        guard found <= version else {
            throw FeedbusError(
                "state.newer",
                "the state database \(path) has schema \(found); this feedbus knows \(version)."
                    + " Use the newer feedbus, or another \"state\" folder")
        }
        return connection
    }

    /// Makes a database, under another name first: a crash leaves none or a whole one.
    static func make(_ path: String) throws {
        let draft = path + ".new"
        for suffix in ["", "-journal", "-wal", "-shm"] { unlink(draft + suffix) }
        // A log of changes whose database is gone would be taken for that of the new one.
        for suffix in ["-wal", "-shm", "-journal"] { unlink(path + suffix) }
        do {
            let connection = try SQLiteConnection(path: draft, isMade: true)
            try connection.execute("PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; BEGIN;")
            for step in steps { try connection.execute(step) }
            try connection.execute("PRAGMA user_version = \(version); COMMIT;")
        }
        let number = Glibc.open(draft, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { throw makingFailed(path) }
        let file = OwnedDescriptor(number)
        guard fsync(file.number) == 0, rename(draft, path) == 0 else { throw makingFailed(path) }
        _ = file.close()
    }

    private static func makingFailed(_ path: String) -> FeedbusError {
        FeedbusError(
            "state.write", "the state database \(path) cannot be made: \(systemError(errno))", isRetriable: true)
    }

    /// A database of some other program is let be.
    private static func checkOwner(_ connection: SQLiteConnection) throws {
        let owner = try connection.number("PRAGMA application_id")
        // 0 is a database of a feedbus that did not sign it yet.
        let tables = try connection.number("SELECT count(*) FROM sqlite_schema WHERE name <> 'cursors'")
        if owner == applicationID || (owner == 0 && tables == 0) { return }
        throw FeedbusError(
            "state.foreign",
            "the database \(connection.path) belongs to another program; set \"state\" to another folder")
    }

    /// A damaged page shows now, and not in the middle of a run.
    private static func checkPages(_ connection: SQLiteConnection) throws {
        let size = try connection.number("PRAGMA page_count") * connection.number("PRAGMA page_size")
        let checks =
            size <= checkedWhole
            ? ["quick_check(1)"] : ["cursors", "subjects", "subscribers"].map { "quick_check('\($0)')" }
        for check in checks {
            let found = try connection.first("PRAGMA \(check)") { $0.text(0) }
            if let found, found != "ok" { throw connection.damaged(found) }
        }
    }
}

/// How much a commit waits for the disk.
package enum StoreSync: String, Sendable, CaseIterable {
    /// A power cut may lose the last commits, but only all that came after some point: no cursor stays without its events.
    case normal = "NORMAL"
    /// Every commit is on the disk before it counts.
    case full = "FULL"
}
