// feedbus: makes events of rows, all of them in one block of memory.

import FeedbusBase

/// Collects rows of the columns `origin, id, subject, time, attributes, data`.
struct EventRowReader: ~Copyable {
    private struct Parts {
        var origin: StoredOrigin
        /// Where each part ends; the first one begins where the event before ended.
        var ends: (id: Int, subject: Int, time: Int, attributes: Int, data: Int)
    }

    private var writer = ByteWriter(capacity: 4_096)
    private var rows: [Parts] = []

    init() {}

    var isEmpty: Bool { rows.isEmpty }
    var count: Int { rows.count }
    /// Bytes so far.
    var size: Int { writer.count }

    /// - Parameter column: the column of `id`; the others follow.
    mutating func add(_ row: SQLiteStatement, origin: StoredOrigin, column: Int32 = 1) {
        func take(_ offset: Int32) -> Int {
            row.withBytes(column + offset) { writer.append($0) }
            return writer.count
        }
        let (id, subject, time) = (take(0), take(1), take(2))
        let (attributes, data) = (take(3), take(4))
        rows.append(Parts(origin: origin, ends: (id, subject, time, attributes, data)))
    }

    consuming func finish() -> [StoredEvent] {
        let all = writer.finish()
        var start = 0
        return rows.map { row in
            func part(_ end: Int) -> Bytes {
                defer { start = end }
                return all[start..<end]
            }
            return StoredEvent(
                origin: row.origin, id: part(row.ends.id), subject: part(row.ends.subject), time: part(row.ends.time),
                attributes: part(row.ends.attributes), data: part(row.ends.data))
        }
    }
}
