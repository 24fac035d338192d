// feedbus: a second connection to the state database, which reads while the other one writes.

import FeedbusBase
import Glibc
import Synchronization

/// Opened when it is first needed.
final class StateReader: Sendable {
    private let path: String
    private let opened = Mutex<StateDatabase?>(nil)

    init(path: String) { self.path = path }

    /// Runs `body` on the database; nil where there is none yet.
    func read<Result: Sendable>(_ body: @Sendable (StateDatabase) throws -> Result) throws -> Result? {
        try opened.withLock { opened in
            if opened?.connection.isAtItsPath != true {
                opened = nil
                guard access(path, F_OK) == 0 else { return nil }
                let connection = try StateSchema.openExisting(path)
                try connection.execute("PRAGMA query_only=ON")
                opened = StateDatabase(connection)
            }
            return try opened.map { try body($0) }
        }
    }

    func close() { opened.withLock { $0 = nil } }
}
