// feedbus: why a call on a file failed.

internal import Glibc

/// A failed system call on a file.
public struct FileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The system's error number, such as `ENOENT`.
    public var errno: Int32
    /// What was tried, as a verb: `"open"`, `"write"`.
    public var operation: String
    public var path: String

    public init(errno: Int32, operation: String, path: String) {
        self.errno = errno
        self.operation = operation
        self.path = path
    }

    /// True where there is no room for more bytes: the disk, the quota or the allowed size of a file is used up.
    public var isFull: Bool { errno == ENOSPC || errno == EDQUOT || errno == EFBIG }

    public var description: String { "cannot \(operation) \(path): \(systemText(errno))" }
}

/// The system's words for an error number.
func systemText(_ number: Int32) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
        // Swift imports the XSI form of it: zero is success.
        guard strerror_r(number, buffer.baseAddress!, buffer.count) == 0 else { return "error \(number)" }
        return String(cString: buffer.baseAddress!)
    }
}
