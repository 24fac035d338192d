// feedbus: the system calls on files that several types share. All run on the pool.

internal import FeedbusBase
internal import Glibc

/// Runs `body` on the pool, to its end.
func onPool<T: Sendable>(
    _ host: any LoopHost, _ operation: String, _ path: String, _ body: @escaping @Sendable () throws(FileError) -> T
) async throws(FileError) -> T {
    let result: Result<T, FileError>
    do {
        result = try await host.offload { Result { () throws(FileError) in try body() } }
    } catch {
        // The loop has ended.
        throw FileError(errno: ECANCELED, operation: operation, path: path)
    }
    return try result.get()
}

/// Calls again after an interruption by a signal.
func repeating<Number: SignedInteger>(_ call: () -> Number) -> Number {
    while true {
        let result = call()
        if result != -1 || errno != EINTR { return result }
    }
}

func openFile(
    _ path: String, _ flags: Int32, _ mode: UInt32 = 0, in files: any FileSystem = SystemFiles()
) throws(FileError) -> Int32 {
    let fd = repeating { files.open(path, flags, mode) }
    guard fd >= 0 else { throw FileError(errno: errno, operation: "open", path: path) }
    return fd
}

/// Makes the folders that a file is to stand in, and returns those that were not there.
@discardableResult
func makeFolders(of path: String) throws(FileError) -> [String] {
    var made: [String] = []
    var index = path.startIndex
    while let slash = path[index...].firstIndex(of: "/") {
        index = path.index(after: slash)
        let folder = String(path[..<slash])
        if folder.isEmpty { continue }
        if mkdir(folder, 0o777) == 0 {
            made.append(folder)
            continue
        }
        if errno == EEXIST { continue }
        // A folder that is there may still not be one that may be made.
        let reason = errno
        var status = stat()
        if stat(folder, &status) != 0 { throw FileError(errno: reason, operation: "make the folder", path: folder) }
    }
    return made
}

/// The folder that a file stands in.
func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
}

/// Makes sure that the names in a file's folder are on the disk; folders that may not be read, and file systems that
/// cannot do it, are let be.
func synchronizeFolder(of path: String, in files: any FileSystem) throws(FileError) {
    let folder = folder(of: path)
    let fd = files.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
    guard fd >= 0 else { return }
    defer { closeDescriptor(fd) }
    guard repeating({ files.synchronize(fd) }) != 0, errno != EINVAL, errno != EROFS, errno != ENOTSUP else { return }
    throw FileError(errno: errno, operation: "synchronize", path: folder)
}
