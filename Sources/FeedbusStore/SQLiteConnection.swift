// feedbus: one SQLite connection and its prepared statements; all of SQLite's C is called here.

import CSQLite
import FeedbusBase

/// A connection, used by one thread at a time: its owner holds a lock around every call.
final class SQLiteConnection {
    private let handle: OpaquePointer
    private var statements: [String: OpaquePointer] = [:]
    let path: String

    /// Opens or makes the file.
    /// - Throws: `FeedbusError` with the code `state.open`, or `state.corrupt` for a file that is no database.
    init(path: String) throws {
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
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

    /// Runs a statement that is prepared once; gives its first row.
    /// - Parameter columns: reads the row; its argument gives the bytes of a column.
    func row<Result>(_ sql: String, _ values: [Value], _ columns: ((Int32) -> Bytes?) -> Result) throws -> Result? {
        let statement = try prepared(sql)
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        for (index, value) in values.enumerated() { try bind(statement, Int32(index + 1), value) }
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return columns { Self.column(statement, $0) }
        case SQLITE_DONE: return nil
        default: throw failure()
        }
    }

    /// Runs a statement that is prepared once and gives no rows.
    func run(_ sql: String, _ values: [Value]) throws {
        _ = try row(sql, values) { _ in () }
    }

    /// The one number that a query gives.
    func number(_ sql: String) throws -> Int {
        try row(sql, []) { $0(0).flatMap { Int($0.string) } ?? 0 } ?? 0
    }

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

    enum Value {
        case text(String)
        case blob(Bytes)
    }

    private func prepared(_ sql: String) throws -> OpaquePointer {
        if let statement = statements[sql] { return statement }
        var statement: OpaquePointer?
        guard sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil) == SQLITE_OK,
            let statement
        else { throw failure() }
        statements[sql] = statement
        return statement
    }

    private func bind(_ statement: OpaquePointer, _ index: Int32, _ value: Value) throws {
        // SQLITE_TRANSIENT: SQLite copies what it is given.
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        let code =
            switch value {
            case .text(let text): sqlite3_bind_text(statement, index, text, -1, transient)
            case .blob(let bytes):
                bytes.withUnsafeBytes {
                    sqlite3_bind_blob64(statement, index, $0.baseAddress, UInt64($0.count), transient)
                }
            }
        guard code == SQLITE_OK else { throw failure() }
    }

    private static func column(_ statement: OpaquePointer, _ index: Int32) -> Bytes? {
        guard sqlite3_column_type(statement, index) != SQLITE_NULL else { return nil }
        let count = Int(sqlite3_column_bytes(statement, index))
        return Bytes(copying: UnsafeRawBufferPointer(start: sqlite3_column_blob(statement, index), count: count))
    }

    private func failure() -> FeedbusError {
        let code = sqlite3_extended_errcode(handle) & 0xFF
        let reason = String(cString: sqlite3_errmsg(handle))
        switch code {
        case SQLITE_CORRUPT, SQLITE_NOTADB:
            return damaged(reason)
        case SQLITE_FULL, SQLITE_IOERR, SQLITE_BUSY, SQLITE_LOCKED:
            return FeedbusError("state.write", "the state database \(path): \(reason)", isRetriable: true)
        default:
            return FeedbusError("state.failed", "the state database \(path): \(reason)")
        }
    }

    /// The file cannot be used as it is.
    func damaged(_ reason: String) -> FeedbusError {
        FeedbusError(
            "state.corrupt",
            "the state database \(path) is damaged (\(reason)); move it away (mv '\(path)' '\(path).damaged') to start afresh:"
                + " what was delivered before will then be delivered again")
    }
}
