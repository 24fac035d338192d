// feedbus: one SQLite connection and its prepared statements; all of SQLite's C is called here.

import CSQLite
import FeedbusBase
import Glibc

/// A connection, used by one thread at a time: its owner holds a lock around every call.
final class SQLiteConnection {
    private let handle: OpaquePointer
    private var statements: [String: OpaquePointer] = [:]
    let path: String

    /// Opens the file.
    /// - Parameter isMade: makes it where it is missing.
    /// - Throws: `FeedbusError` with the code `state.open`.
    init(path: String, isMade: Bool = false) throws {
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (isMade ? SQLITE_OPEN_CREATE : 0)
        guard sqlite3_open_v2(path, &handle, flags, nil) == SQLITE_OK, let handle else {
            let reason = handle.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            sqlite3_close_v2(handle)
            throw FeedbusError("state.open", "the state database \(path) cannot be opened: \(reason)")
        }
        self.handle = handle
        self.path = path
        // Somebody may look into the file with the program sqlite3.
        sqlite3_busy_timeout(handle, 2_000)
    }

    /// False where the file was deleted or replaced: SQLite goes on writing to the old one.
    var isAtItsPath: Bool {
        var moved: Int32 = 0
        let isKnown = sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK
        return !isKnown || moved == 0
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close_v2(handle)
    }

    /// Runs SQL that is written in this package and returns nothing.
    func execute(_ sql: String) throws {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure() }
    }

    /// Runs a statement that is prepared once, row by row, until `body` returns false.
    func each(
        _ sql: String, _ bind: (SQLiteStatement) -> Void = { _ in }, _ body: (SQLiteStatement) throws -> Bool
    ) throws {
        let statement = try prepared(sql)
        defer {
            statement.reset()
            statement.clear()
        }
        bind(statement)
        while true {
            switch statement.step() {
            case SQLITE_ROW: if !(try body(statement)) { return }
            case SQLITE_DONE: return
            default: throw failure()
            }
        }
    }

    /// The first row of a query, read by `body`; nil where there is none.
    func first<Result>(
        _ sql: String, _ bind: (SQLiteStatement) -> Void = { _ in }, _ body: (SQLiteStatement) throws -> Result
    ) throws -> Result? {
        var found: Result?
        try each(sql, bind) { row in
            found = try body(row)
            return false
        }
        return found
    }

    /// Runs a statement that is prepared once and gives no rows.
    func run(_ sql: String, _ bind: (SQLiteStatement) -> Void = { _ in }) throws {
        try each(sql, bind) { _ in true }
    }

    /// The one number that a query gives.
    func number(_ sql: String) throws -> Int {
        try first(sql) { Int($0.integer(0)) } ?? 0
    }

    /// Rows that the last statement changed.
    var changes: Int { Int(sqlite3_changes(handle)) }

    /// The row that the last INSERT made.
    var lastRow: Int64 { sqlite3_last_insert_rowid(handle) }

    /// Runs `body` in one transaction: all of it is kept or none.
    func transaction(_ body: () throws -> Void) throws {
        try execute("BEGIN IMMEDIATE")
        do {
            try body()
            try execute("COMMIT")
        } catch {
            // Some failures have rolled back already; then this one fails and changes nothing.
            try? execute("ROLLBACK")
            throw error
        }
    }

    /// The statement, prepared at its first use and kept.
    func prepared(_ sql: String) throws -> SQLiteStatement {
        if let statement = statements[sql] { return SQLiteStatement(handle: statement) }
        var statement: OpaquePointer?
        guard sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil) == SQLITE_OK,
            let statement
        else { throw failure() }
        statements[sql] = statement
        return SQLiteStatement(handle: statement)
    }

    /// Runs a statement with its bindings; it is left ready for the next ones.
    func finish(_ statement: SQLiteStatement) throws {
        let code = statement.step()
        guard code == SQLITE_DONE || code == SQLITE_ROW else {
            let error = failure()
            statement.reset()
            throw error
        }
        statement.reset()
    }

    /// What the last call that failed says.
    func failure() -> FeedbusError {
        let code = sqlite3_extended_errcode(handle) & 0xFF
        let reason = String(cString: sqlite3_errmsg(handle))
        switch code {
        case SQLITE_CORRUPT, SQLITE_NOTADB:
            return damaged(reason)
        case SQLITE_FULL, SQLITE_IOERR, SQLITE_BUSY, SQLITE_LOCKED:
            // SQLite calls some of what a full disk does an I/O error.
            var info = statvfs()
            let isFull = statvfs(path, &info) == 0 && info.f_bavail == 0
            return FeedbusError(
                "state.write", "the state database \(path): \(reason)\(isFull ? " (the disk is full)" : "")",
                isRetriable: true)
        default:
            return FeedbusError("state.failed", "the state database \(path): \(reason)")
        }
    }

    /// The file cannot be used as it is.
    func damaged(_ reason: String) -> FeedbusError { DamagedState.error(path, reason) }
}
