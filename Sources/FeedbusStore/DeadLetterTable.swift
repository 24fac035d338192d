// feedbus: the table of dead letters.

import FeedbusBase

/// The dead letters of a database. Every function is a part of the caller's transaction.
struct DeadLetterTable {
    private let connection: SQLiteConnection
    private var count: Int
    private var bytes: Int
    /// The last letter that was there before the state was opened.
    private let before: Int64

    /// - Parameter before: the last number that was given before the state was opened.
    init(_ connection: SQLiteConnection, before: Int64) throws {
        self.connection = connection
        self.before = before
        (count, bytes) =
            try connection.first("SELECT count(*), coalesce(sum(size), 0) FROM dead_letters") {
                (Int($0.integer(0)), Int($0.integer(1)))
            } ?? (0, 0)
    }

    /// The last number that was given; 0 where none was.
    static func lastNumber(_ connection: SQLiteConnection) throws -> Int64 {
        try connection.first("SELECT seq FROM sqlite_sequence WHERE name = 'dead_letters'") { $0.integer(0) } ?? 0
    }

    /// Adds letters, in order, as the cap allows.
    mutating func add(
        _ letters: [DeadLetter], cap: DeadLetterCap, origins: inout OriginTable
    ) throws -> DeadLettersTaken {
        var result = DeadLettersTaken()
        func drop(_ node: String, isText: Bool, isNew: Bool) {
            result.dropped += 1
            guard isNew else { return }
            if isText {
                result.gone[node, default: .init()].texts += 1
            } else {
                result.gone[node, default: .init()].events += 1
            }
        }
        for letter in letters {
            let size = letter.size
            func isOver() -> Bool { count + 1 > cap.events || bytes + size > cap.bytes }
            if isOver() {
                switch cap.whenFull {
                case .block: return result
                case .dropNewest:
                    drop(letter.node, isText: letter.isText, isNew: true)
                    result.settled += 1
                    continue
                case .dropOldest:
                    guard size <= cap.bytes, cap.events > 0 else {
                        // It would push out all the others and still not fit.
                        drop(letter.node, isText: letter.isText, isNew: true)
                        result.settled += 1
                        continue
                    }
                    while isOver(), let one = try removeOldest() {
                        drop(one.node, isText: one.isText, isNew: one.number > before)
                    }
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

    private mutating func removeOldest() throws -> (number: Int64, node: String, isText: Bool)? {
        let oldest = try connection.first(
            "SELECT number, size, node, origin FROM dead_letters ORDER BY number LIMIT 1"
        ) {
            (number: $0.integer(0), size: Int($0.integer(1)), node: $0.text(2), isText: $0.isNull(3))
        }
        guard let oldest else { return nil }
        try connection.run("DELETE FROM dead_letters WHERE number = ?") { $0.bind(1, oldest.number) }
        count -= 1
        bytes -= oldest.size
        return (oldest.number, oldest.node, oldest.isText)
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
