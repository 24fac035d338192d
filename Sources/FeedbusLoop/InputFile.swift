// feedbus: a file, pipe or terminal that is read.

internal import CLibuv
internal import FeedbusBase
internal import Glibc

/// What tells one file from another, whatever its name.
package struct FileIdentity: Sendable, Hashable {
    package var device: UInt64
    package var inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }

    fileprivate init(_ status: stat) {
        self.init(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }

    /// The file that a path leads to; nil where there is none.
    package static func of(_ path: String) -> FileIdentity? {
        var status = stat()
        return stat(path, &status) == 0 ? FileIdentity(status) : nil
    }

    /// The path of a regular file with this inode in the folder of `path`, as it is left by a rotation; nil where there is
    /// none.
    package static func sibling(of path: String, inode: UInt64) -> String? {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        guard let entries = opendir(folder.isEmpty ? "." : folder) else { return nil }
        defer { closedir(entries) }
        while let entry = readdir(entries) {
            guard UInt64(entry.pointee.d_ino) == inode else { continue }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            var status = stat()
            guard lstat(folder + name, &status) == 0, status.st_mode & S_IFMT == S_IFREG, UInt64(status.st_ino) == inode
            else { continue }
            return folder + name
        }
        return nil
    }
}

/// An open file, pipe or terminal. What reads from it runs on the pool; the wait for a pipe is on the loop.
///
/// Its descriptor is closed with the last reference.
package final class InputFile: Sendable {
    package enum Kind: Sendable {
        /// It has places and a size, and never lets a reader wait.
        case regular
        /// A pipe, terminal or socket: what is read is gone, and there may be nothing yet.
        case stream
        /// Such as /dev/null: no places, and nothing to wait for.
        case device
    }

    package let path: String
    package let kind: Kind
    package let identity: FileIdentity
    private let descriptor: Int32
    private let host: any LoopHost

    private init(_ descriptor: Int32, path: String, host: any LoopHost) throws(FileError) {
        self.descriptor = descriptor
        self.path = path
        self.host = host
        var status = stat()
        var failure = fstat(descriptor, &status) == 0 ? 0 : errno
        if failure == 0 && status.st_mode & S_IFMT == S_IFDIR { failure = EISDIR }
        guard failure == 0 else {
            closeDescriptor(descriptor)
            throw FileError(errno: failure, operation: "read", path: path)
        }
        identity = FileIdentity(status)
        switch status.st_mode & S_IFMT {
        case S_IFREG: kind = .regular
        case S_IFCHR where isatty(descriptor) == 0: kind = .device
        default: kind = .stream
        }
        if kind == .stream {
            // Fewer, larger reads; where it is not allowed, it stays as it is.
            feedbus_pipe_resize(descriptor, 1 << 20)
        }
    }

    deinit { closeDescriptor(descriptor) }

    /// - Parameter endless: a named pipe does not end when its last writer goes.
    package static func open(
        _ path: String, endless: Bool = false, on host: any LoopHost
    ) async throws(FileError) -> InputFile {
        try await onPool(host, "open", path) { () throws(FileError) in
            var status = stat()
            let isPipe = stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
            let access = endless && isPipe ? O_RDWR : O_RDONLY
            return try InputFile(openFile(path, access | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), path: path, host: host)
        }
    }

    /// The standard input of this process, opened anew: made non-blocking, the one that the process was given would also
    /// be so for the programs that share it.
    package static func standardInput(on host: any LoopHost) async throws(FileError) -> InputFile {
        let name = "standard input"
        return try await onPool(host, "open", name) { () throws(FileError) in
            var fd: Int32 = -1
            var status = stat()
            if fstat(STDIN_FILENO, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
                fd = repeating { Glibc.open("/proc/self/fd/0", O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) }
            }
            // A plain file keeps the place that it was given at; a socket cannot be opened anew.
            if fd < 0 { fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) }
            guard fd >= 0 else { throw FileError(errno: errno, operation: "read", path: name) }
            return try InputFile(fd, path: name, host: host)
        }
    }

    // MARK: - On the pool

    /// The size in bytes.
    package func size() throws(FileError) -> Int {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw FileError(errno: errno, operation: "look at", path: path)
        }
        return Int(status.st_size)
    }

    /// The byte at a place of a plain file; nil behind its end.
    package func byte(at offset: Int) throws(FileError) -> UInt8? {
        var byte: UInt8 = 0
        let count = repeating { pread(descriptor, &byte, 1, off_t(offset)) }
        guard count >= 0 else { throw FileError(errno: errno, operation: "read", path: path) }
        return count == 1 ? byte : nil
    }

    /// Moves to a place of a plain file.
    package func seek(to offset: Int) throws(FileError) {
        guard lseek(descriptor, off_t(offset), SEEK_SET) >= 0 else {
            throw FileError(errno: errno, operation: "read", path: path)
        }
    }

    /// Reads on, as much as there is room for and as is there.
    /// - Returns: 0 at the end; nil where a stream has nothing yet.
    package func read(into target: UnsafeMutableRawBufferPointer) throws(FileError) -> Int? {
        var done = 0
        while done < target.count {
            // A shared description may block, so a stream is asked first.
            if kind == .stream && !isReadable() { break }
            let count = repeating { Glibc.read(descriptor, target.baseAddress! + done, target.count - done) }
            if count == 0 { return done }
            if count < 0 {
                if errno == EAGAIN || done > 0 { break }
                throw FileError(errno: errno, operation: "read", path: path)
            }
            done += count
        }
        return done > 0 ? done : nil
    }

    private func isReadable() -> Bool {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return repeating { poll(&watched, 1, 0) } > 0
    }

    // MARK: - On the loop

    /// Suspends until a stream has something, or has ended.
    /// - Throws: `CancellationError` at once when the task is cancelled; `FeedbusError` where it cannot be watched.
    package func waitUntilReadable() async throws {
        guard kind == .stream else { return }
        guard let loop = host as? EventLoop else {
            // A loop that is run by hand has no descriptors: it may wait on the spot.
            let descriptor = descriptor
            return try await host.offload {
                var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                _ = repeating { poll(&watched, 1, -1) }
            }
        }
        try await loop.wait { [self] (waiter: LoopWaiter<Void>) in
            do {
                let holder = PollHolder()
                holder.poll = try loop.makePoll(fd: descriptor) { _ in
                    holder.close()
                    waiter.resume(returning: ())
                }
                waiter.onCancel { holder.close() }
                holder.poll?.start(.readable)
            } catch {
                waiter.resume(throwing: error)
            }
        }
    }
}

/// Breaks the circle between a poll and its callback.
///
/// `@unchecked Sendable`: only the loop's thread uses it.
private final class PollHolder: @unchecked Sendable {
    var poll: LoopPoll?

    func close() {
        poll?.close()
        poll = nil
    }
}
