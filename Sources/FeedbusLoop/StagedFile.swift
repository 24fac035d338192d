// feedbus: a file that grows beside its place, and takes it when it is whole.

package import FeedbusBase
internal import Glibc
internal import Synchronization

/// A file that is written piece by piece as `PATH.part`, and becomes `PATH` at the end: readers of `PATH` see the old
/// content or the new one, never a part. What a process leaves that dies before is in `PATH.part`, whole pieces only
/// but for the last. A file to which nothing was written leaves nothing.
package final class StagedFile: Sendable {
    private let host: any LoopHost
    private let files: any FileSystem
    private let path: String
    private let part: String
    private let descriptor: OwnedDescriptor
    /// The bytes of whole pieces; nil once the file has taken its place. Only threads of the pool wait for the lock.
    private let size = Mutex<Int?>(0)

    /// Makes the file, and its folders where they are missing.
    /// - Throws: `FileError` where it could never take its place; `EWOULDBLOCK` where somebody else is writing it.
    package static func open(
        _ path: String, mode: UInt32 = 0o644, on host: any LoopHost
    ) async throws(FileError) -> StagedFile {
        try await onPool(host, "write", path) { () throws(FileError) in
            var status = stat()
            if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
                throw FileError(errno: EISDIR, operation: "write", path: path)
            }
            try makeFolders(of: path)
            return try StagedFile(path, mode, host)
        }
    }

    private init(_ path: String, _ mode: UInt32, _ host: any LoopHost) throws(FileError) {
        self.host = host
        files = host.files
        self.path = path
        part = path + ".part"
        descriptor = OwnedDescriptor(try openFile(part, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, mode, in: files))
        guard repeating({ flock(descriptor.number, LOCK_EX | LOCK_NB) }) == 0 else {
            // Not ours: `deinit` must leave it alone.
            size.withLock { $0 = nil }
            throw FileError(errno: errno, operation: "lock", path: part)
        }
        // What is left of a process that died.
        var status = stat()
        if fstat(descriptor.number, &status) == 0, status.st_size > 0 { ftruncate(descriptor.number, 0) }
    }

    deinit {
        if size.withLock({ $0 }) == 0 { unlink(part) }
        // A child that is just being started has a copy of the descriptor for a moment longer.
        flock(descriptor.number, LOCK_UN)
    }

    /// Appends what `piece` returns, all of it or nothing. The pieces stand in the order in which `piece` is called, on
    /// the pool, one call after another; it is told whether its piece is the first one.
    package func append(_ piece: @escaping @Sendable (_ isFirst: Bool) -> Bytes) async throws(FileError) {
        try await onPool(host, "write", path) { [self] () throws(FileError) in
            try size.withLock { size throws(FileError) in try write(piece, &size) }
        }
    }

    /// Appends the last piece, sees to it that all is on the disk, and puts the file into its place. Called once.
    package func finish(_ piece: @escaping @Sendable (_ isFirst: Bool) -> Bytes) async throws(FileError) {
        try await onPool(host, "write", path) { [self] () throws(FileError) in
            try size.withLock { size throws(FileError) in
                try write(piece, &size)
                guard repeating({ files.synchronize(descriptor.number) }) == 0, files.rename(part, to: path) == 0
                else { throw FileError(errno: errno, operation: "write", path: path) }
                size = nil
                try synchronizeFolder(of: path, in: files)
            }
        }
    }

    private func write(_ piece: (Bool) -> Bytes, _ size: inout Int?) throws(FileError) {
        guard let before = size else { throw FileError(errno: EBADF, operation: "write", path: path) }
        let bytes = piece(before == 0)
        // What a piece that failed has left, where it could not be taken back then.
        var status = stat()
        guard fstat(descriptor.number, &status) == 0,
            status.st_size == before || repeating({ files.truncate(descriptor.number, to: before) }) == 0
        else { throw FileError(errno: errno, operation: "write", path: part) }
        var done = 0
        while done < bytes.count {
            let rest = bytes[done..<bytes.count]
            let count = rest.withUnsafeBytes { source in
                repeating { files.write(descriptor.number, source) }
            }
            guard count >= 0 else {
                let reason = errno
                _ = files.truncate(descriptor.number, to: before)
                throw FileError(errno: reason, operation: "write", path: part)
            }
            done += count
        }
        size = before + done
    }
}
