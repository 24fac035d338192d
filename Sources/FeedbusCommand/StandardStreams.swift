// feedbus: writes to stdout, stderr and files, before and without the loop.

import FeedbusBase
import FeedbusLoop
import Glibc

enum StandardStreams {
    /// Writes a whole file, in place of what was there.
    /// - Returns: why it could not be written; nil where it was.
    static func writeFile(_ bytes: Bytes, to path: String) -> String? {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { return String(cString: strerror(errno)) }
        let written = bytes.withUnsafeBytes { writeAll($0, to: file) }
        let closed = closeDescriptor(file)
        let failure = written != 0 ? written : closed
        return failure == 0 ? nil : String(cString: strerror(failure))
    }

    /// Puts something into the place of each standard stream that the caller has closed (`<&-`, `>&-`): the next file
    /// that is opened would get its number, and be read, written or closed as if it were that stream. What is put there
    /// cannot be used either: a write to a closed stdout still fails.
    static func reservePlaces() {
        for file in STDIN_FILENO...STDERR_FILENO where fcntl(file, F_GETFD) == -1 {
            _ = open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Writes all of the text.
    /// - Returns: false where it could not be written, which stderr is then told. A reader that has gone (`| head -1`)
    ///   has seen enough: that counts as written.
    @discardableResult
    static func write(_ text: String, to file: Int32) -> Bool {
        var text = text
        return text.withUTF8 { write(UnsafeRawBufferPointer($0), to: file) != .failed }
    }

    /// How a write ended.
    enum End { case written, readerGone, failed }

    /// Writes all of the bytes, as a part of more.
    static func write(_ bytes: Bytes, to file: Int32) -> End { bytes.withUnsafeBytes { write($0, to: file) } }

    private static func write(_ bytes: UnsafeRawBufferPointer, to file: Int32) -> End {
        switch writeAll(bytes, to: file) {
        case 0: return .written
        case EPIPE: return .readerGone
        case let reason:
            if file != STDERR_FILENO {
                write("feedbus: cannot write to stdout: \(String(cString: strerror(reason)))\n", to: STDERR_FILENO)
            }
            return .failed
        }
    }

    /// Writes all of the bytes, and waits where there is no room.
    /// - Returns: 0, or the number of the error that ended it.
    private static func writeAll(_ bytes: UnsafeRawBufferPointer, to file: Int32) -> Int32 {
        var done = 0
        while done < bytes.count {
            let count = Glibc.write(file, bytes.baseAddress! + done, bytes.count - done)  // not empty
            if count >= 0 {
                done += count
            } else if errno == EAGAIN {
                var wanted = pollfd(fd: file, events: Int16(POLLOUT), revents: 0)
                poll(&wanted, 1, -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }
}
