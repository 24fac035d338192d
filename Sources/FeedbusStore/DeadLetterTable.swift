// feedbus: the table of dead letters.

import FeedbusBase

/// The dead letters of a database. Every function is a part of the caller's transaction.
struct DeadLetterTable {
    private let connection: SQLiteConnection
    private var count: Int
    private var bytes: Int

    init(_ connection: SQLiteConnection) throws {
        self.connection = connection
        (count, bytes) =
            try connection.first("SELECT count(*), coalesce(sum(size), 0) FROM dead_letters") {
                (Int($0.integer(0)), Int($0.integer(1)))
            } ?? (0, 0)
    }

    /// Adds letters, in order, as the cap allows.
    mutating func add(
        _ letters: [DeadLetter], cap: DeadLetterCap, origins: inout OriginTable
    ) throws -> DeadLettersTaken {
        var result = DeadLettersTaken()
        for letter in letters {
            let size = letter.size
            func isOver() -> Bool { count + 1 > cap.events || bytes + size > cap.bytes }
            if isOver() {
                switch cap.whenFull {
                case .block: return result
                case .dropNewest:
                    result.dropped += 1
                    result.settled += 1
                    continue
                case .dropOldest:
                    guard size <= cap.bytes, cap.events > 0 else {
                        // It would push out all the others and still not fit.
                        result.dropped += 1
                        result.settled += 1
                        continue
                    }
                    while isOver(), try removeOldest() { result.dropped += 1 }
                }
            }
            try insert(letter, size, &origins)
            result.settled += 1
        }
        return result
    }

    private mutating func insert(_ letter: DeadLetter, _ size: Int, _ origins: inout OriginTable) throws {
        var origin: Int64?
        if case .event(let event) = letter.body { origin = try origins.number(of: event.origin, connection) }
        try connection.run(
            """
            INSERT INTO dead_letters (node, reason, at, size, origin, id, subject, time, attributes, data)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        ) { row in
            row.bind(1, letter.node)
            row.bind(2, letter.reason)
            row.bind(3, letter.at.milliseconds)
            row.bind(4, Int64(size))
            switch letter.body {
            case .raw(let text):
                for column in 5...9 { row.bindNull(Int32(column)) }
                row.bind(10, text)
            case .event(let event):
                row.bind(5, origin ?? 0)
                row.bind(6, event.id)
                row.bind(7, event.subject)
                row.bind(8, event.time)
                row.bind(9, event.attributes)
                row.bind(10, event.data)
            }
        }
        count += 1
        bytes += size
    }

    private mutating func removeOldest() throws -> Bool {
        let oldest = try connection.first("SELECT number, size FROM dead_letters ORDER BY number LIMIT 1") {
            ($0.integer(0), Int($0.integer(1)))
        }
        guard let (number, size) = oldest else { return false }
        try connection.run("DELETE FROM dead_letters WHERE number = ?") { $0.bind(1, number) }
        count -= 1
        bytes -= size
        return true
    }

    /// Removes the letters with these numbers.
    mutating func remove(_ numbers: [Int64]) throws {
        for number in numbers {
            let size = try connection.first(
                "SELECT size FROM dead_letters WHERE number = ?", { $0.bind(1, number) },
                {
                    Int($0.integer(0))
                })
            guard let size else { continue }
            try connection.run("DELETE FROM dead_letters WHERE number = ?") { $0.bind(1, number) }
            count -= 1
            bytes -= size
        }
    }

    /// Letters after a number, in order, at most `most` and about 1 MiB.
    /// - Parameter node: only that node's.
    static func read(
        _ connection: SQLiteConnection, after number: Int64, through last: Int64 = .max, node: String?, most: Int,
        origins: inout OriginTable
    ) throws -> [DeadLetter] {
        var letters: [DeadLetter] = []
        var size = 0
        try connection.each(
            """
            SELECT origin, id, subject, time, attributes, data, number, node, reason, at FROM dead_letters
            WHERE number > ? AND number <= ? AND (?3 IS NULL OR node = ?3) ORDER BY number LIMIT ?4
            """,
            {
                $0.bind(1, number)
                $0.bind(2, last)
                if let node { $0.bind(3, node) } else { $0.bindNull(3) }
                $0.bind(4, Int64(most))
            },
            { row in
                let body: DeadLetter.Body
                if row.isNull(0) {
                    body = .raw(row.bytes(5))
                } else {
                    body = .event(
                        StoredEvent(
                            origin: try origins.origin(row.integer(0), connection), id: row.bytes(1),
                            subject: row.bytes(2),
                            time: row.bytes(3), attributes: row.bytes(4), data: row.bytes(5)))
                }
                letters.append(
                    DeadLetter(
                        number: row.integer(6), node: row.text(7), reason: row.text(8),
                        at: WallTime(milliseconds: row.integer(9)), body: body))
                size += body.size
                return size < 1 << 20
            })
        return letters
    }
}
