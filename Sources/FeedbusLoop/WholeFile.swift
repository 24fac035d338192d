// feedbus: files that are read or written as a whole.

public import FeedbusBase
internal import Glibc

/// Reads a file of at most `limit` bytes.
/// - Throws: `FileError`; `EFBIG` where the file is larger.
public func readWholeFile(_ path: String, limit: Int, on host: any LoopHost) async throws(FileError) -> Bytes {
    try await onPool(host, "read", path) { () throws(FileError) in
        let fd = try openFile(path, O_RDONLY | O_CLOEXEC)
        defer { closeDescriptor(fd) }
        var status = stat()
        let size = fstat(fd, &status) == 0 ? Int(status.st_size) : 0
        var writer = ByteWriter(capacity: min(size, limit) + 1)
        let failure: Int32 = withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 16) { buffer in
            while true {
                let count = repeating { read(fd, buffer.baseAddress!, buffer.count) }
                if count < 0 { return errno }
                if count == 0 { return 0 }
                if writer.count + count > limit { return EFBIG }
                writer.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
        }
        if failure != 0 { throw FileError(errno: failure, operation: "read", path: path) }
        return writer.finish()
    }
}

/// Replaces a file: readers see the old content or the new one, never a part, also after a power cut.
/// Makes its folders where they are missing.
/// - Parameter mode: the permissions of the new file, less the process's umask.
public func writeWholeFileAtomically(
    _ path: String, _ bytes: Bytes, mode: UInt32 = 0o644, on host: any LoopHost
) async throws(FileError) {
    let files = host.files
    try await onPool(host, "write", path) { () throws(FileError) in
        try makeFolders(of: path)
        // In the same folder, since a rename does not cross file systems.
        let temporary = "\(path).\(getpid())-\(UInt32.random(in: 0 ... .max)).tmp"
        let fd = try openFile(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode, in: files)
        var failure: Int32 = 0
        var done = 0
        while done < bytes.count && failure == 0 {
            let rest = bytes[done..<bytes.count]
            let count = rest.withUnsafeBytes { source in
                repeating { files.write(fd, source) }
            }
            if count < 0 { failure = errno } else { done += count }
        }
        if failure == 0 && repeating({ files.synchronize(fd) }) != 0 { failure = errno }
        let closing = files.close(fd)
        if failure == 0 { failure = closing }
        if failure == 0 && files.rename(temporary, to: path) != 0 { failure = errno }
        if failure != 0 {
            unlink(temporary)
            throw FileError(errno: failure, operation: "write", path: path)
        }
        try synchronizeFolder(of: path, in: files)
    }
}
