// feedbus: one prepared statement: values in, rows out.

import CSQLite
import FeedbusBase

/// A prepared statement of an `SQLiteConnection`, which owns and finalises it. Numbers of parameters and columns count
/// from 1 and 0, as SQLite has them.
struct SQLiteStatement {
    let handle: OpaquePointer

    /// Binds text without copying it: `bytes` must live until `reset()`.
    func bindShared(_ index: Int32, _ bytes: Bytes) {
        bytes.withUnsafeBytes { text in
            // The memory belongs to the buffer of `bytes`, which does not move and is never written.
            _ = sqlite3_bind_text(
                handle, index, text.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(text.count), nil)
        }
    }

    func bind(_ index: Int32, _ bytes: Bytes, asText: Bool = true) {
        // SQLITE_TRANSIENT: SQLite copies what it is given.
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        bytes.withUnsafeBytes { raw in
            if asText {
                _ = sqlite3_bind_text(
                    handle, index, raw.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(raw.count), transient)
            } else {
                _ = sqlite3_bind_blob64(handle, index, raw.baseAddress, UInt64(raw.count), transient)
            }
        }
    }

    func bind(_ index: Int32, _ text: String) {
        _ = sqlite3_bind_text(
            handle, index, text, Int32(text.utf8.count), unsafeBitCast(-1, to: sqlite3_destructor_type.self))
    }

    func bind(_ index: Int32, _ number: Int64) { sqlite3_bind_int64(handle, index, number) }

    func bindNull(_ index: Int32) { sqlite3_bind_null(handle, index) }

    /// SQLITE_ROW, SQLITE_DONE or an error.
    func step() -> Int32 { sqlite3_step(handle) }

    /// To be used again; bindings stay.
    func reset() { sqlite3_reset(handle) }

    func clear() { sqlite3_clear_bindings(handle) }

    // MARK: - The current row

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    /// The bytes of a column, copied.
    func bytes(_ column: Int32) -> Bytes { withBytes(column) { Bytes(copying: $0) } }

    func text(_ column: Int32) -> String { withBytes(column) { String(decoding: $0, as: UTF8.self) } }

    /// The bytes of a column, valid inside `body`.
    func withBytes<Result>(_ column: Int32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        // The pointer first: asking for the length may convert the value otherwise.
        let start = sqlite3_column_blob(handle, column)
        return body(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
    }
}
