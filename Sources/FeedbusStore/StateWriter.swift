// feedbus: writes to the state database: what waits goes into one transaction.

import FeedbusBase
import Synchronization

/// A piece of work on the database, and what is told of its end.
struct WriteJob: Sendable {
    let perform: @Sendable (StateDatabase) throws -> Void
    let finish: @Sendable ((any Error)?) -> Void
}

/// The one that writes; runs on threads of the pool.
final class StateWriter: Sendable {
    private let folder: Mutex<StateFolder?>

    init(_ folder: sending StateFolder) { self.folder = Mutex(folder) }

    /// Does all jobs in one transaction. Where one fails, each is done in a transaction of its own, so that it fails alone.
    func commit(_ jobs: [WriteJob]) {
        do {
            try transaction { database in
                for job in jobs { try job.perform(database) }
            }
            for job in jobs { job.finish(nil) }
        } catch {
            guard jobs.count > 1 else {
                jobs.first?.finish(error)
                return
            }
            for job in jobs {
                do {
                    try transaction { try job.perform($0) }
                    job.finish(nil)
                } catch {
                    job.finish(error)
                }
            }
        }
    }

    private func transaction(_ body: @Sendable (StateDatabase) throws -> Void) throws {
        try folder.withLock { folder in
            guard let folder else { throw StateWriter.closedError }
            try folder.database().transaction(body)
        }
    }

    /// Reads from the database if there is one.
    func read<Result: Sendable>(_ body: @Sendable (StateDatabase) throws -> Result) throws -> Result? {
        try folder.withLock { folder in
            guard let folder else { throw StateWriter.closedError }
            return try folder.existing.map { try body($0) }
        }
    }

    func close() { folder.withLock { $0 = nil } }

    static var closedError: FeedbusError { FeedbusError("state.closed", "the state store is closed") }
}
