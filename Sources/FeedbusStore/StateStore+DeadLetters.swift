// feedbus: the store of dead letters.

extension StateStore {
    /// Sets letters aside, in order, as far as the cap allows; returns when they are committed.
    package func add(_ letters: [DeadLetter], cap: DeadLetterCap) async throws -> DeadLettersTaken {
        try await write { database in
            try database.withDeadLetters { table, origins in try table.add(letters, cap: cap, origins: &origins) }
        }
    }

    /// Removes the letters with these numbers.
    package func removeDeadLetters(_ numbers: [Int64]) async throws {
        try await write { database in try database.withDeadLetters { table, _ in try table.remove(numbers) } }
    }

    /// Letters after a number and up to another, in order.
    /// - Parameter node: only that node's; nil: all.
    package func deadLetters(
        after number: Int64 = 0, through last: Int64 = .max, node: String? = nil, most: Int = 256
    ) async throws -> [DeadLetter] {
        try await read { database in
            try DeadLetterTable.read(
                database.connection, after: number, through: last, node: node, most: most, origins: &database.origins)
        } ?? []
    }
}
