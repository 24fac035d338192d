// feedbus: the table of origins: what many events share stands once.

import FeedbusBase

/// Numbers of origins, kept in memory as far as they are used.
struct OriginTable {
    /// Forgotten, and read again, when there are more: sources may have an origin for each of very many repositories.
    private static let cacheLimit = 4_096

    private var numbers: [StoredOrigin: Int64] = [:]
    private var origins: [Int64: StoredOrigin] = [:]
    private var last: (origin: StoredOrigin, number: Int64)?

    /// Nothing that a rolled-back transaction wrote may be remembered.
    mutating func forget() { self = OriginTable() }

    /// The number of an origin, which is added where it is new.
    mutating func number(of origin: StoredOrigin, _ connection: SQLiteConnection) throws -> Int64 {
        if let last, last.origin === origin { return last.number }
        let number: Int64
        if let known = numbers[origin] {
            number = known
        } else {
            let bind: (SQLiteStatement) -> Void = {
                $0.bind(1, origin.source)
                $0.bind(2, origin.type)
                $0.bind(3, origin.node)
                $0.bind(4, origin.recorded ? 1 : 0)
            }
            let found = try connection.first(
                "SELECT id FROM origins WHERE source = ? AND type = ? AND node = ? AND recorded = ?", bind
            ) { $0.integer(0) }
            if let found {
                number = found
            } else {
                try connection.run("INSERT INTO origins (source, type, node, recorded) VALUES (?, ?, ?, ?)", bind)
                number = connection.lastRow
            }
            if numbers.count >= Self.cacheLimit { forget() }
            numbers[origin] = number
            origins[number] = origin
        }
        last = (origin, number)
        return number
    }

    /// The origin with a number.
    mutating func origin(_ number: Int64, _ connection: SQLiteConnection) throws -> StoredOrigin {
        if let last, last.number == number { return last.origin }
        if let known = origins[number] {
            last = (known, number)
            return known
        }
        let found = try connection.first(
            "SELECT source, type, node, recorded FROM origins WHERE id = ?", { $0.bind(1, number) },
            {
                StoredOrigin(source: $0.bytes(0), type: $0.bytes(1), node: $0.bytes(2), recorded: $0.integer(3) != 0)
            })
        guard let found else { throw connection.damaged("an event names the origin \(number), which is not there") }
        if origins.count >= Self.cacheLimit { forget() }
        origins[number] = found
        last = (found, number)
        return found
    }
}
