// feedbus: the logs of durable subjects.

import FeedbusBase

extension StateStore {
    /// The log of a subject, which is made where there is none, and the places of its readers.
    /// - Parameters:
    ///   - readers: those that read it now; a new one begins `replay` events before the end.
    package func openSubject(_ name: String, readers: [String], replay: Int) async throws -> SubjectPosition {
        try await write { database in
            try SubjectLog(name, next: 1, database.connection).positions(of: readers, replay: replay)
        }
    }

    /// Adds events to a log; returns when they are committed.
    /// - Parameters:
    ///   - next: the number of the first event where the log is not there any more.
    ///   - floor: every reader has had all before this number, and that is saved.
    /// - Throws: `state.full` when the log has reached its limit and its policy is to block; `state.write`, which can be
    ///   tried again, for a full disk.
    package func append(
        _ events: [StoredEvent], to subject: String, next: Int64, floor: Int64, retention: Retention, now: WallTime
    ) async throws -> Appended {
        try await write { database in
            var log = try SubjectLog(subject, next: next, database.connection)
            return try log.append(
                events, floor: floor, retention: retention, now: now.milliseconds, origins: &database.origins)
        }
    }

    /// Saves that a reader has had everything up to an event.
    package func saveReader(_ reader: String, of subject: String, acked: Int64) async throws {
        try await write { database in
            try SubjectLog(existing: subject, database.connection)?.setAcked(acked, of: reader)
        }
    }

    /// Events from a number on: as many as there are in a row, at most `most`, and about `size` bytes.
    /// - Returns: nil where the log has nothing at that number or after it.
    package func events(
        of subject: String, from sequence: Int64, most: Int = 512, size: Int = 1 << 20
    ) async throws -> LogPart? {
        try await read { database in
            try SubjectLog(existing: subject, database.connection)?
                .read(from: sequence, most: most, size: size, origins: &database.origins)
        } ?? nil
    }

    /// The number that the next event will have; nil where there is no such log.
    package func nextNumber(of subject: String) async throws -> Int64? {
        try await read { try SubjectLog(existing: subject, $0.connection)?.next } ?? nil
    }

    /// The number of the event at which a replay begins; nil where the log has none such.
    package func find(_ start: LogStart, in subject: String) async throws -> Int64? {
        try await read { try SubjectLog(existing: subject, $0.connection)?.find(start) } ?? nil
    }
}
