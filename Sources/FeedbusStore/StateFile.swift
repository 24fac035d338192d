// feedbus: the state database as the commands see it: to look into, to take out of, to empty.

import FeedbusBase
import Glibc

/// What a state database has, in numbers.
package struct StateSummary: Sendable {
    package struct Cursor: Sendable {
        package var node: String
        package var key: String
        package var size: Int
    }

    package struct Subject: Sendable {
        package var name: String
        package var events: Int
        package var bytes: Int
        /// The number of the next event.
        package var next: Int64
        /// When the oldest event was stored; nil without events.
        package var oldest: WallTime?
        /// The last event that each reader has had.
        package var readers: [(name: String, acked: Int64)]

        /// How many events the log still has for a reader that has had all up to `acked`.
        package func toCome(_ acked: Int64) -> Int { min(events, Int(max(0, next - 1 - acked))) }
    }

    package struct Letters: Sendable {
        package var node: String
        package var count: Int
        package var bytes: Int
        package var oldest: WallTime
        package var newest: WallTime
        /// Of the newest one.
        package var reason: String
    }

    package var path: String
    /// The file and its log of changes.
    package var fileSize: Int
    package var cursors: [Cursor]
    package var subjects: [Subject]
    package var letters: [Letters]
    package var budgets: [ServiceBudget] = []
}

/// Opens the state of a folder beside the program, without its loop. Blocks; for commands.
package final class StateFile {
    private let database: StateDatabase
    private let lock: FolderLock?

    /// - Parameter isWritten: takes the folder's lock: no feedbus may run on it.
    /// - Returns: nil where there is no state.
    /// - Throws: as `StateStore.open`.
    package static func open(folder: String, isWritten: Bool = false) throws -> StateFile? {
        let path = folder + "/feedbus.sqlite"
        // One that runs has its lock before it has a database.
        let lock = isWritten && access(folder + "/lock", F_OK) == 0 ? try FolderLock(folder: folder) : nil
        guard access(path, F_OK) == 0 else { return nil }
        let connection =
            isWritten ? try StateSchema.open(path, sync: .normal) : try StateSchema.openExisting(path)
        return StateFile(StateDatabase(connection), lock)
    }

    private init(_ database: StateDatabase, _ lock: FolderLock?) {
        self.database = database
        self.lock = lock
    }

    private var connection: SQLiteConnection { database.connection }

    /// A database of the first version has cursors only.
    private func hasTable(_ name: String) throws -> Bool {
        try connection.first("SELECT 1 FROM sqlite_schema WHERE name = ?", { $0.bind(1, name) }, { _ in true }) ?? false
    }

    // MARK: - Looking

    /// - Parameter node: only what is of that node: a source, a reader, a subject, or a node with dead letters.
    package func summary(node: String? = nil) throws -> StateSummary {
        var info = stat()
        var size = 0
        for suffix in ["", "-wal"] where stat(connection.path + suffix, &info) == 0 { size += Int(info.st_size) }
        var summary = StateSummary(path: connection.path, fileSize: size, cursors: [], subjects: [], letters: [])
        try connection.each("SELECT node, key, length(value) FROM cursors ORDER BY node, key") { row in
            summary.cursors.append(.init(node: row.text(0), key: row.text(1), size: Int(row.integer(2))))
            return true
        }
        guard try hasTable("subjects") else { return summary }
        var ids: [Int64] = []
        try connection.each("SELECT id, name, events, bytes, next FROM subjects ORDER BY name") { row in
            ids.append(row.integer(0))
            summary.subjects.append(
                .init(
                    name: row.text(1), events: Int(row.integer(2)), bytes: Int(row.integer(3)), next: row.integer(4),
                    oldest: nil, readers: []))
            return true
        }
        for (index, id) in ids.enumerated() {
            summary.subjects[index].oldest = try connection.first("SELECT stored FROM log_\(id) ORDER BY seq LIMIT 1") {
                WallTime(milliseconds: $0.integer(0))
            }
            try connection.each(
                "SELECT name, acked FROM subscribers WHERE subject = ? ORDER BY name", { $0.bind(1, id) },
                { row in
                    summary.subjects[index].readers.append((row.text(0), row.integer(1)))
                    return true
                })
        }
        try connection.each(
            """
            SELECT node, count(*), sum(size), min(at), max(at),
                   (SELECT reason FROM dead_letters AS last WHERE last.node = dead_letters.node
                    ORDER BY number DESC LIMIT 1)
            FROM dead_letters GROUP BY node ORDER BY node
            """
        ) { row in
            summary.letters.append(
                .init(
                    node: row.text(0), count: Int(row.integer(1)), bytes: Int(row.integer(2)),
                    oldest: WallTime(milliseconds: row.integer(3)), newest: WallTime(milliseconds: row.integer(4)),
                    reason: row.text(5)))
            return true
        }
        // They are of services, and not of nodes.
        if node == nil, try hasTable("budgets") { summary.budgets = try BudgetTable.read(connection) }
        guard let node else { return summary }
        summary.cursors.removeAll { $0.node != node }
        summary.letters.removeAll { $0.node != node }
        summary.subjects = summary.subjects.compactMap { subject in
            var subject = subject
            if subject.name != node { subject.readers.removeAll { $0.name != node } }
            return subject.name == node || !subject.readers.isEmpty ? subject : nil
        }
        return summary
    }

    /// Every cursor with its value.
    package func cursors(_ body: (_ node: String, _ key: String, _ value: Bytes) throws -> Bool) throws {
        try connection.each("SELECT node, key, value FROM cursors ORDER BY node, key") {
            try body($0.text(0), $0.text(1), $0.bytes(2))
        }
    }

    /// Events of a log from a number on; nil where there are none.
    package func events(of subject: String, from sequence: Int64, most: Int = 512) throws -> LogPart? {
        guard try hasTable("subjects") else { return nil }
        return try SubjectLog(existing: subject, connection)?
            .read(from: sequence, most: most, size: 1 << 20, origins: &database.origins)
    }

    /// The number at which a replay begins; nil where the log has none such.
    package func find(_ start: LogStart, in subject: String) throws -> Int64? {
        guard try hasTable("subjects") else { return nil }
        return try SubjectLog(existing: subject, connection)?.find(start)
    }

    /// Dead letters after a number, in order; empty at the end.
    package func deadLetters(after number: Int64, node: String?) throws -> [DeadLetter] {
        guard try hasTable("dead_letters") else { return [] }
        return try DeadLetterTable.read(
            connection, after: number, node: node, most: 256, origins: &database.origins)
    }

    // MARK: - Emptying

    /// Forgets what is of a node, or everything, and gives the room back to the disk.
    /// - Parameter onlyDeadLetters: leaves cursors and logs as they are.
    package func reset(node: String?, onlyDeadLetters: Bool) throws {
        let connection = self.connection
        func bind(_ row: SQLiteStatement) {
            if let node { row.bind(1, node) } else { row.bindNull(1) }
        }
        try database.transaction { _ in
            try connection.run("DELETE FROM dead_letters WHERE ?1 IS NULL OR node = ?1", bind)
            guard !onlyDeadLetters else { return }
            if node == nil { try connection.run("DELETE FROM budgets") { _ in } }
            try connection.run("DELETE FROM cursors WHERE ?1 IS NULL OR node = ?1", bind)
            try connection.run("DELETE FROM subscribers WHERE ?1 IS NULL OR name = ?1", bind)
            var names: [String] = []
            try connection.each(
                "SELECT name FROM subjects WHERE ?1 IS NULL OR name = ?1", bind,
                { row in
                    names.append(row.text(0))
                    return true
                })
            for name in names { try SubjectLog(existing: name, connection)?.remove() }
        }
        try connection.execute("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);")
    }
}
