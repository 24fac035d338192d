// feedbus: the log of one durable subject, as tables of the state database.

import CSQLite
import FeedbusBase

/// A log in a database. Every function is a part of the caller's transaction.
struct SubjectLog {
    /// Rows that one append removes at most: what is left goes with the next ones.
    private static let trimLimit = 4_096

    private let connection: SQLiteConnection
    private let name: String
    let id: Int64
    private(set) var next: Int64
    private var count: Int64
    private var bytes: Int64

    /// The log of that name; nil where there is none.
    init?(existing name: String, _ connection: SQLiteConnection) throws {
        let row = try connection.first(
            "SELECT id, next, events, bytes FROM subjects WHERE name = ?", { $0.bind(1, name) },
            { ($0.integer(0), $0.integer(1), $0.integer(2), $0.integer(3)) })
        guard let row else { return nil }
        self.connection = connection
        self.name = name
        (id, next, count, bytes) = row
    }

    /// The log of that name, which is made where there is none.
    /// - Parameter next: the number of a new log's first event.
    init(_ name: String, next: Int64, _ connection: SQLiteConnection) throws {
        if let existing = try SubjectLog(existing: name, connection) {
            self = existing
            return
        }
        try connection.run("INSERT INTO subjects (name, next, events, bytes) VALUES (?, ?, 0, 0)") {
            $0.bind(1, name)
            $0.bind(2, next)
        }
        self.connection = connection
        self.name = name
        self.id = connection.lastRow
        self.next = next
        (count, bytes) = (0, 0)
        try connection.execute(
            """
            CREATE TABLE log_\(id) (seq INTEGER PRIMARY KEY, stored INTEGER NOT NULL, size INTEGER NOT NULL,
                                    origin INTEGER NOT NULL, id TEXT NOT NULL, subject TEXT NOT NULL,
                                    time TEXT NOT NULL, attributes TEXT NOT NULL, data TEXT NOT NULL)
            """)
    }

    // MARK: - Readers

    /// What each reader has had; those that are new begin `replay` events before the end.
    func positions(of readers: [String], replay: Int) throws -> SubjectPosition {
        let first = try self.first()
        var known: [String: Int64] = [:]
        try connection.each(
            "SELECT name, acked FROM subscribers WHERE subject = ?", { $0.bind(1, id) },
            {
                known[$0.text(0)] = $0.integer(1)
                return true
            })
        var acked: [String: Int64] = [:]
        for reader in readers {
            if let place = known.removeValue(forKey: reader) {
                // A number beyond the end is of a log that was deleted.
                acked[reader] = min(place, next - 1)
            } else {
                let place = max(first, next - Int64(replay)) - 1
                acked[reader] = place
                try setAcked(place, of: reader)
            }
        }
        return SubjectPosition(first: first, next: next, acked: acked, away: known)
    }

    func setAcked(_ sequence: Int64, of reader: String) throws {
        try connection.run("INSERT OR REPLACE INTO subscribers (subject, name, acked) VALUES (?, ?, ?)") {
            $0.bind(1, id)
            $0.bind(2, reader)
            $0.bind(3, sequence)
        }
    }

    /// The oldest event that is there, or `next`.
    func first() throws -> Int64 {
        try connection.first("SELECT seq FROM log_\(id) ORDER BY seq LIMIT 1") { $0.integer(0) } ?? next
    }

    // MARK: - Writing

    /// Adds events at the end, and removes what need not stay.
    /// - Parameters:
    ///   - floor: every reader has had all before this number.
    ///   - now: milliseconds since 1970.
    /// - Throws: `state.full` when the log's limit is reached, its policy is to block and some reader is behind.
    mutating func append(
        _ events: [StoredEvent], floor: Int64, retention: Retention, now: Int64, origins: inout OriginTable
    ) throws -> Appended {
        let added = Int64(events.reduce(0) { $0 + $1.size })
        let dropped = try makeRoom(
            for: Int64(events.count), of: added, floor: floor, retention: retention, now: now)
        let statement = try connection.prepared(
            """
            INSERT INTO log_\(id) (seq, stored, size, origin, id, subject, time, attributes, data)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        defer { statement.clear() }
        let first = next
        for event in events {
            statement.bind(1, next)
            statement.bind(2, now)
            statement.bind(3, Int64(event.size))
            statement.bind(4, try origins.number(of: event.origin, connection))
            // `events` keeps the bytes until the statement is reset.
            statement.bindShared(5, event.id)
            statement.bindShared(6, event.subject)
            statement.bindShared(7, event.time)
            statement.bindShared(8, event.attributes)
            statement.bindShared(9, event.data)
            try connection.finish(statement)
            next += 1
        }
        count += Int64(events.count)
        bytes += added
        try save()
        return Appended(first: first, oldest: dropped.oldest, droppedBefore: dropped.before)
    }

    private mutating func makeRoom(
        for events: Int64, of size: Int64, floor: Int64, retention: Retention, now: Int64
    ) throws -> (oldest: Int64, before: Int64?) {
        var oldest = next - count
        // What every reader has had, as far as nobody may want it again.
        let free = min(floor, next + events - Int64(retention.replay))
        let cutoff = retention.age.map { now - $0.nanoseconds / 1_000_000 }
        let isOver = count + events > retention.events || bytes + size > retention.bytes
        if free > oldest, isOver || cutoff != nil {
            oldest = try trim(
                before: free, events: Int64(retention.events) - events, bytes: Int64(retention.bytes) - size,
                storedBefore: cutoff, from: oldest)
        }
        let limit = Int64(retention.limit) - size
        guard bytes > limit else { return (oldest, nil) }
        if free > oldest {
            oldest = try trim(before: free, events: .max, bytes: limit, storedBefore: nil, from: oldest)
        }
        guard bytes > limit, floor < next || retention.whenFull == .dropOldest else { return (oldest, nil) }
        guard retention.whenFull == .dropOldest else {
            throw FeedbusError(
                "state.full",
                "the log of the subject \(name) has reached its limit (\(ByteSize.text(retention.limit))): a reader is"
                    + " \(next - floor) events behind", isRetriable: true)
        }
        while bytes > limit, oldest < next {
            oldest = try trim(before: next, events: .max, bytes: limit, storedBefore: nil, from: oldest)
        }
        return (oldest, oldest > floor ? oldest : nil)
    }

    /// Removes the oldest events before `end`, for as long as there are more than `events`, or more than `bytes`, or the
    /// oldest was stored before a time.
    /// - Returns: the oldest that is left.
    private mutating func trim(
        before end: Int64, events: Int64, bytes limit: Int64, storedBefore: Int64?, from oldest: Int64
    ) throws -> Int64 {
        var keep = oldest
        var (left, size) = (count, bytes)
        try connection.each(
            "SELECT seq, size, stored FROM log_\(id) WHERE seq < ? ORDER BY seq LIMIT \(Self.trimLimit)",
            { $0.bind(1, end) },
            { row in
                guard left > events || size > limit || storedBefore.map({ row.integer(2) < $0 }) == true else {
                    return false
                }
                keep = row.integer(0) + 1
                left -= 1
                size -= row.integer(1)
                return true
            })
        guard left < count else { return oldest }
        try connection.run("DELETE FROM log_\(id) WHERE seq < ?") { $0.bind(1, keep) }
        (count, bytes) = (left, size)
        return keep
    }

    private func save() throws {
        try connection.run("UPDATE subjects SET next = ?, events = ?, bytes = ? WHERE id = ?") {
            $0.bind(1, next)
            $0.bind(2, count)
            $0.bind(3, bytes)
            $0.bind(4, id)
        }
    }

    // MARK: - Reading

    /// Events from a number on, as many as are there in a row, at most `most` and about `size` bytes.
    func read(from sequence: Int64, most: Int, size: Int, origins: inout OriginTable) throws -> LogPart? {
        var reader = EventRowReader()
        var first: Int64 = 0
        var stored: Int64 = 0
        try connection.each(
            """
            SELECT origin, id, subject, time, attributes, data, seq, stored FROM log_\(id)
            WHERE seq >= ? ORDER BY seq LIMIT ?
            """,
            {
                $0.bind(1, sequence)
                $0.bind(2, Int64(most))
            },
            { row in
                let number = row.integer(6)
                if reader.isEmpty {
                    first = number
                    stored = row.integer(7)
                } else if number != first + Int64(reader.count) {
                    return false
                }
                reader.add(row, origin: try origins.origin(row.integer(0), connection))
                return reader.size < size
            })
        return reader.isEmpty ? nil : LogPart(first: first, events: reader.finish(), storedAt: stored)
    }

    /// The number of the event at which a replay begins; nil where the log has none such.
    func find(_ start: LogStart) throws -> Int64? {
        switch start {
        case .first: try connection.first("SELECT seq FROM log_\(id) ORDER BY seq LIMIT 1") { $0.integer(0) }
        case .time(let time):
            try connection.first(
                "SELECT seq FROM log_\(id) WHERE stored >= ? ORDER BY seq LIMIT 1", { $0.bind(1, time.milliseconds) },
                { $0.integer(0) })
        case .id(let wanted):
            try connection.first(
                "SELECT seq FROM log_\(id) WHERE id = ? ORDER BY seq LIMIT 1", { $0.bind(1, wanted) },
                { $0.integer(0) })
        }
    }

    /// Forgets the log, its readers and its events.
    func remove() throws {
        try connection.execute("DROP TABLE log_\(id)")
        try connection.run("DELETE FROM subscribers WHERE subject = ?") { $0.bind(1, id) }
        try connection.run("DELETE FROM subjects WHERE id = ?") { $0.bind(1, id) }
    }
}
