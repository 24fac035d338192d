// feedbus: a file that is only appended to.

public import FeedbusBase
internal import Glibc
internal import Synchronization

/// An append-only file, pipe or terminal. Every call that may block runs on the pool of the loop that it was opened on,
/// one after another but for `synchronize`, and runs to its end also when the caller's task is cancelled (see `write` for
/// the one exception).
public final class OutputFile: Sendable {
    struct State {
        /// -1 once it was closed.
        var descriptor: Int32
        /// So many bytes will find room: see `makeRoom(for:_:)`.
        var room = 0
        /// Room was reserved behind the end of the file.
        var hasReserved = false
        /// The files and folders that this process made, whose names are not on the disk yet.
        var newNames: [String] = []
        /// Where the file was cut off since the last sync began.
        var cutTo = Int.max
    }

    private let host: any LoopHost
    let files: any FileSystem
    let path: String
    /// The lock is held, by threads of the pool only, during each call: so that calls do not overlap, and `close()` does
    /// not take the descriptor away from one.
    private let state: Mutex<State>
    /// Held, likewise, while a sync takes its time, and by `close()`: writes go on beside it. Taken before `state`.
    private let syncing = Mutex(())
    let kind: Kind
    /// Whether this is a terminal.
    public let isTerminal: Bool

    enum Kind { case regular, stream }

    /// False for a pipe, a socket, a terminal or another device.
    public var isRegular: Bool { kind == .regular }

    /// Takes over an open descriptor.
    /// - Parameter path: how errors name it.
    package convenience init(adopting descriptor: Int32, path: String, on host: any LoopHost) {
        self.init(descriptor, path: path, host: host)
    }

    private init(_ descriptor: Int32, path: String, newNames: [String] = [], host: any LoopHost) {
        state = Mutex(State(descriptor: descriptor, newNames: newNames))
        self.path = path
        self.host = host
        files = host.files
        var status = stat()
        let isRegular = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        kind = isRegular ? .regular : .stream
        isTerminal = isatty(descriptor) == 1
    }

    deinit {
        state.withLock { if $0.descriptor > STDERR_FILENO { closeDescriptor($0.descriptor) } }
    }

    /// Opens a file for appending, and makes it and its folders where they are missing. A named pipe must have a reader
    /// (`ENXIO`).
    /// - Parameter mode: the permissions of a new file, less the process's umask.
    public static func open(
        _ path: String, mode: UInt32 = 0o644, on host: any LoopHost
    ) async throws(FileError) -> OutputFile {
        let files = host.files
        return try await onPool(host, "open", path) { () throws(FileError) in
            let flags = O_APPEND | O_CLOEXEC
            var status = stat()
            let exists = stat(path, &status) == 0
            if exists && status.st_mode & S_IFMT != S_IFREG && status.st_mode & S_IFMT != S_IFDIR {
                // Opened for reading too, a pipe would never tell that its reader has gone; blocking, it would not open.
                let fd = try openFile(path, flags | O_WRONLY | O_NONBLOCK, in: files)
                return OutputFile(fd, path: path, host: host)
            }
            let newNames = exists ? [] : try makeFolders(of: path) + [path]
            let fd = try openFile(path, flags | O_RDWR | O_CREAT, mode, in: files)
            return OutputFile(fd, path: path, newNames: newNames, host: host)
        }
    }

    /// The standard output of this process. It is never closed.
    public static func standardOutput(on host: any LoopHost) -> OutputFile {
        OutputFile(STDOUT_FILENO, path: "standard output", host: host)
    }

    /// Locks the file against other processes, until it is closed or the process ends (flock(2)).
    /// False, at once, where somebody else holds the lock.
    public func lock() async throws(FileError) -> Bool {
        try await call("lock") { [path] state throws(FileError) in
            if repeating({ flock(state.descriptor, LOCK_EX | LOCK_NB) }) == 0 { return true }
            if errno == EWOULDBLOCK { return false }
            throw FileError(errno: errno, operation: "lock", path: path)
        }
    }

    /// Appends bytes, and returns how many the system has taken.
    ///
    /// A regular file gets one write(2), for which room was made before: where the disk is full nothing is written, so
    /// that a reader does not see the half of it. Only file systems that reserve no room, and failing disks, take a part.
    ///
    /// A pipe or terminal gets as much as its reader takes, and is waited for; where the task is cancelled meanwhile, the
    /// wait ends.
    /// - Throws: `FileError`; `EPIPE` where the reader has gone, `ECANCELED` where nothing was written before the
    ///   cancellation.
    public func write(_ bytes: Bytes) async throws(FileError) -> Int {
        if bytes.isEmpty { return 0 }
        switch kind {
        case .regular:
            return try await call("write") { [self] state throws(FileError) in
                try makeRoom(for: bytes.count, &state)
                let fd = state.descriptor
                let count = bytes.withUnsafeBytes { source in repeating { files.write(fd, source) } }
                return try taken(count, &state)
            }
        case .stream:
            return try await stream(bytes).get()
        }
    }

    /// What a write to a regular file has returned.
    func taken(_ count: Int, _ state: inout State) throws(FileError) -> Int {
        // POSIX lets no write of bytes return 0; to try again for ever would be the worst that can be made of it.
        guard count > 0 else { throw FileError(errno: count == 0 ? EIO : errno, operation: "write to", path: path) }
        state.room -= count
        return count
    }

    private func stream(_ bytes: Bytes) async -> Result<Int, FileError> {
        let interrupt = Interrupt()
        return await withCancellation {
            do throws(FileError) {
                return .success(try await takeTurns(bytes, interrupt))
            } catch {
                return .failure(error)
            }
        } onCancel: {
            interrupt.fire()
        }
    }

    /// Writes while the reader takes something. When it does not, it is asked again from time to time: the wait is on
    /// the loop, and no thread of the pool takes part in it.
    private func takeTurns(_ bytes: Bytes, _ interrupt: Interrupt) async throws(FileError) -> Int {
        var patience: Int32 = 50
        while true {
            let count = try await call("write") { [path, patience] state throws(FileError) in
                try writeStream(state.descriptor, bytes, interrupt, patience: patience, path)
            }
            if count > 0 { return count }
            if interrupt.isFired { throw FileError(errno: ECANCELED, operation: "write to", path: path) }
            if let loop = host as? EventLoop { try? await loop.clock.sleep(for: .milliseconds(60)) }
            patience = 0
        }
    }

    /// Returns when what was written is on the disk; for a new file, with its name. Nothing to do for a pipe. Meanwhile
    /// the file can be written to.
    ///
    /// When it fails, the system may have given up on what it could not write, and the next call succeeds without it: see
    /// `rewrite(from:expecting:)`.
    /// - Returns: up to where what stands in the file is on the disk.
    @discardableResult
    public func synchronize() async throws(FileError) -> Int {
        guard kind == .regular else { return 0 }
        return try await onPool(host, "synchronize", path) { [self] () throws(FileError) in
            try syncing.withLock { _ throws(FileError) in try synchronizeNow() }
        }
    }

    private func synchronizeNow() throws(FileError) -> Int {
        // The descriptor stays open: who closes it takes the same lock before.
        let (fd, end, names) = try withDescriptor("synchronize") {
            [self] state throws(FileError) -> (Int32, Int, [String]) in
            state.cutTo = .max
            return (state.descriptor, try self.size(state), state.newNames)
        }
        guard repeating({ files.synchronizeData(fd) }) == 0 else {
            throw FileError(errno: errno, operation: "synchronize", path: path)
        }
        for name in names.reversed() {
            try synchronizeFolder(of: name, in: files)
            state.withLock { $0.newNames.removeLast(1) }
        }
        // What was cut off meanwhile may have been written anew.
        return state.withLock { min(end, $0.cutTo) }
    }

    /// Cuts the file off, or fills it up with zeros.
    public func truncate(to size: Int) async throws(FileError) {
        try await call("truncate") { [path, files] state throws(FileError) in
            let fd = state.descriptor
            state.room = 0
            state.cutTo = min(state.cutTo, size)
            guard repeating({ files.truncate(fd, to: size) }) == 0 else {
                throw FileError(errno: errno, operation: "truncate", path: path)
            }
        }
    }

    /// The size in bytes.
    public func size() async throws(FileError) -> Int {
        try await call("look at") { [self] state throws(FileError) in try size(state) }
    }

    func size(_ state: State) throws(FileError) -> Int {
        var status = stat()
        guard fstat(state.descriptor, &status) == 0 else {
            throw FileError(errno: errno, operation: "look at", path: path)
        }
        return Int(status.st_size)
    }

    /// Reads up to `count` bytes from `offset` on; fewer at the end of the file.
    public func read(at offset: Int, count: Int) async throws(FileError) -> Bytes {
        try await call("read") { [self] state throws(FileError) in try read(state, at: offset, count: count) }
    }

    func read(_ state: State, at offset: Int, count: Int) throws(FileError) -> Bytes {
        let fd = state.descriptor
        var failure: Int32 = 0
        let buffer = ByteBuffer(capacity: max(count, 0)) { target in
            var done = 0
            while done < target.count {
                let got = repeating { pread(fd, target.baseAddress! + done, target.count - done, offset + done) }
                if got < 0 { failure = errno }
                if got <= 0 { break }
                done += got
            }
            return done
        }
        if failure != 0 { throw FileError(errno: failure, operation: "read", path: path) }
        return Bytes(buffer: buffer)
    }

    /// Closes the file, and with that gives up the lock. Later calls fail with `EBADF`. May be called again.
    public func close() async throws(FileError) {
        try await onPool(host, "close", path) { [self] () throws(FileError) in
            let fd = syncing.withLock { _ in
                state.withLock { state in
                    giveBackRoom(&state)
                    defer { if state.descriptor != STDOUT_FILENO { state.descriptor = -1 } }
                    return state.descriptor
                }
            }
            // A child that is just being started may hold the same lock for a moment longer.
            guard fd > STDERR_FILENO else { return }
            flock(fd, LOCK_UN)
            let failure = files.close(fd)
            if failure != 0 { throw FileError(errno: failure, operation: "close", path: path) }
        }
    }

    /// Whether `path` still leads to this file: false when it was renamed, deleted or replaced.
    public func isStillAt(_ path: String) async -> Bool {
        let isSame = try? await call("look at") { state throws(FileError) in
            var (mine, there) = (stat(), stat())
            return fstat(state.descriptor, &mine) == 0 && stat(path, &there) == 0
                && mine.st_dev == there.st_dev && mine.st_ino == there.st_ino
        }
        return isSame ?? false
    }

    /// Calls `body` on the pool with the open descriptor.
    func call<T: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (inout State) throws(FileError) -> T
    ) async throws(FileError) -> T {
        try await onPool(host, operation, path) { [self] () throws(FileError) in
            try withDescriptor(operation, body)
        }
    }

    private func withDescriptor<T: Sendable>(
        _ operation: String, _ body: (inout State) throws(FileError) -> T
    ) throws(FileError) -> T {
        try state.withLock { state throws(FileError) in
            guard state.descriptor >= 0 else { throw FileError(errno: EBADF, operation: operation, path: path) }
            return try body(&state)
        }
    }
}
