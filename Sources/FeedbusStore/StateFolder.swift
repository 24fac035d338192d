// feedbus: the folder of the state: its lock, its database, and whether both are still there.

import FeedbusBase
import Glibc

/// The database as one transaction sees it, with what is remembered of it.
final class StateDatabase {
    let connection: SQLiteConnection
    var origins = OriginTable()
    private var letters: DeadLetterTable?
    /// The last dead letter that was there before this run; nil as long as none was added.
    private var lastLetterBefore: Int64?

    init(_ connection: SQLiteConnection) { self.connection = connection }

    /// Runs `body` on the table of dead letters.
    func withDeadLetters<Result>(
        _ body: (inout DeadLetterTable, inout OriginTable) throws -> Result
    ) throws -> Result {
        let before = try lastLetterBefore ?? DeadLetterTable.lastNumber(connection)
        lastLetterBefore = before
        var table = try letters ?? DeadLetterTable(connection, before: before)
        let result = try body(&table, &origins)
        letters = table
        return result
    }

    /// All of it is kept or none.
    func transaction<Result>(_ body: (StateDatabase) throws -> Result) throws -> Result {
        do {
            var result: Result?
            try connection.transaction { result = try body(self) }
            return result!  // set, where the transaction did not throw
        } catch {
            // What was remembered may be of the transaction that is gone.
            origins.forget()
            letters = nil
            throw error
        }
    }
}

/// The state folder of this process. Used by one thread at a time.
final class StateFolder {
    private let folder: String
    let path: String
    private let sync: StoreSync
    private var lock: FolderLock
    private var opened: StateDatabase?
    private var isGone = false

    /// A database that exists is opened and looked at now. A new one is made at the first save: its making waits for the
    /// disk, and the first events need not.
    init(folder: String, sync: StoreSync) throws {
        try StateFolder.make(folder)
        self.folder = folder
        self.sync = sync
        path = folder + "/feedbus.sqlite"
        lock = try FolderLock(folder: folder)
    }

    func openExisting() throws {
        if access(path, F_OK) == 0 { opened = StateDatabase(try StateSchema.open(path, sync: sync)) }
    }

    /// Nil before the first save.
    var existing: StateDatabase? { opened }

    /// - Throws: `state.gone`, once, where the folder or the database was deleted or replaced while it was in use:
    ///   what is written to a deleted file is lost with no error. The next call begins afresh.
    func database() throws -> StateDatabase {
        if isGone {
            try StateFolder.make(folder)
            if !lock.isAt(folder) { lock = try FolderLock(folder: folder) }
            isGone = false
        } else if !lock.isAt(folder) || opened?.connection.isAtItsPath == false {
            isGone = true
            opened = nil
            throw FeedbusError(
                "state.gone",
                "the state in \(folder) was deleted or replaced while it was in use, and is made anew: what was"
                    + " delivered before may be delivered again after the next start", isRetriable: true)
        }
        if let opened { return opened }
        if access(path, F_OK) != 0 { try StateSchema.make(path) }
        let made = StateDatabase(try StateSchema.open(path, sync: sync))
        opened = made
        return made
    }

    private static func make(_ folder: String) throws {
        var path = folder.hasPrefix("/") ? "" : "."
        for part in folder.split(separator: "/") {
            path += "/" + part
            if mkdir(path, 0o755) != 0 && errno != EEXIST {
                throw FeedbusError(
                    "state.open", "the state folder \(folder) cannot be made: \(path): \(systemError(errno))")
            }
        }
    }
}
