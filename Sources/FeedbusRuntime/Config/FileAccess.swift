// feedbus: the few things that checking a config asks of the file system; tests answer them from memory.

import FeedbusBase
import FeedbusLoop

#if canImport(Glibc)
    import Glibc
#endif

/// Synchronous reading, for the time before the loop runs. Nothing is ever written.
package struct FileAccess: Sendable {
    /// Why a file cannot be read: `No such file or directory`.
    package struct Unreadable: Error {
        package var reason: String

        package init(reason: String) { self.reason = reason }
    }

    /// The whole file; at most `limit` bytes.
    package var read: @Sendable (_ path: String, _ limit: Int) throws(Unreadable) -> Bytes
    package var isExecutable: @Sendable (_ path: String) -> Bool
    package var exists: @Sendable (_ path: String) -> Bool
    /// Absolute.
    package var workingDirectory: String

    package init(
        workingDirectory: String, read: @escaping @Sendable (String, Int) throws(Unreadable) -> Bytes,
        isExecutable: @escaping @Sendable (String) -> Bool, exists: @escaping @Sendable (String) -> Bool
    ) {
        self.workingDirectory = workingDirectory
        self.read = read
        self.isExecutable = isExecutable
        self.exists = exists
    }

    /// The real file system.
    package static var system: FileAccess {
        FileAccess(
            workingDirectory: currentDirectory(), read: readFile,
            isExecutable: { path in
                var status = stat()
                return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
            },
            exists: { access($0, F_OK) == 0 })
    }

    /// `path` made absolute and free of `.`, `..` and double slashes. Symbolic links are not followed.
    package static func absolute(_ path: String, in directory: String) -> String {
        var parts: [Substring] = []
        for part in (path.hasPrefix("/") ? path : directory + "/" + path).split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }
}

private func currentDirectory() -> String {
    guard let path = getcwd(nil, 0) else { return "/" }
    defer { free(path) }
    return String(cString: path)
}

private func readFile(_ path: String, limit: Int) throws(FileAccess.Unreadable) -> Bytes {
    func failure() -> FileAccess.Unreadable { FileAccess.Unreadable(reason: String(cString: strerror(errno))) }
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw failure() }
    defer { closeDescriptor(file) }
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = Glibc.read(file, &block, block.count)
        if count == 0 { return Bytes(bytes) }
        if count < 0 {
            if errno == EINTR { continue }
            throw failure()
        }
        bytes += block[..<count]
        if bytes.count > limit { throw FileAccess.Unreadable(reason: "larger than \(ByteSize.text(limit))") }
    }
}
