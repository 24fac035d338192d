// feedbus: what SQLite alone does: the loop of batched inserts that a C program would write.

import CSQLite
import Glibc

/// Rows of a payload, inserted in transactions of a given number, in WAL mode.
struct BareInserts {
    /// - Returns: rows a second, all of them committed.
    static func run(path: String, rows: Int, batch: Int, size: Int, sync: String) -> Double {
        var handle: OpaquePointer?
        precondition(sqlite3_open(path, &handle) == SQLITE_OK, "cannot open \(path)")
        defer { sqlite3_close(handle) }
        func execute(_ sql: String) {
            precondition(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK, "\(sql) failed")
        }
        execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=\(sync)")
        execute("CREATE TABLE log (seq INTEGER PRIMARY KEY, data BLOB NOT NULL)")
        func prepare(_ sql: String) -> OpaquePointer {
            var statement: OpaquePointer?
            precondition(sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, "\(sql) failed")
            return statement!  // prepared
        }
        let insert = prepare("INSERT INTO log (data) VALUES (?)")
        let begin = prepare("BEGIN IMMEDIATE")
        let commit = prepare("COMMIT")
        defer { for statement in [insert, begin, commit] { sqlite3_finalize(statement) } }
        let payload = [UInt8](repeating: UInt8(ascii: "x"), count: size)
        return payload.withUnsafeBytes { payload in
            let started = now()
            var done = 0
            while done < rows {
                sqlite3_step(begin)
                sqlite3_reset(begin)
                for _ in 0..<min(batch, rows - done) {
                    sqlite3_bind_blob(insert, 1, payload.baseAddress, Int32(size), nil)
                    precondition(sqlite3_step(insert) == SQLITE_DONE, "an insert failed")
                    sqlite3_reset(insert)
                }
                precondition(sqlite3_step(commit) == SQLITE_DONE, "a commit failed")
                sqlite3_reset(commit)
                done += batch
            }
            return Double(rows) / (now() - started)
        }
    }
}

/// Seconds of the monotonic clock.
func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
