// feedbus: writes texts to stdout and stderr, before and without the loop.

import Glibc

enum StandardStreams {
    /// Writes all of the text.
    /// - Returns: false where it could not be written, which stderr is then told. A reader that has gone (`| head -1`)
    ///   has seen enough: that counts as written.
    @discardableResult
    static func write(_ text: String, to file: Int32) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Glibc.write(file, UnsafeRawPointer(bytes.baseAddress! + rest.startIndex), rest.count)
                if count >= 0 {
                    rest = rest.dropFirst(count)
                } else if errno == EAGAIN {
                    var wanted = pollfd(fd: file, events: Int16(POLLOUT), revents: 0)
                    poll(&wanted, 1, -1)
                } else if errno == EPIPE {
                    return true
                } else if errno != EINTR {
                    if file != STDERR_FILENO {
                        write(
                            "feedbus: cannot write to stdout: \(String(cString: strerror(errno)))\n", to: STDERR_FILENO)
                    }
                    return false
                }
            }
            return true
        }
    }
}
