// feedbus: room for the next lines before they are written, and lines that an fsync could not bring to the disk.

public import FeedbusBase
internal import Glibc

extension OutputFile {
    /// The least and the most that is reserved at one time.
    private static let roomRange = (64 << 10)...(1 << 20)

    /// Sees to it that so many bytes find room, before the first of them is in the file: a reader that follows it must
    /// not meet the half of a line that is then taken back. Room is reserved in larger pieces than asked for, so that it
    /// costs one call in many, and given back when the file is closed.
    func makeRoom(for count: Int, _ state: inout State) throws(FileError) {
        guard state.room < count else { return }
        let fd = state.descriptor
        let size = try size(state)
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0, limit.rlim_cur != rlim_t.max,
            size + count > Int(clamping: limit.rlim_cur)
        {
            throw FileError(errno: EFBIG, operation: "write to", path: path)
        }
        // A small file is not to occupy much more than it holds.
        let ahead = max(count, min(max(size / 8, Self.roomRange.lowerBound), Self.roomRange.upperBound))
        for wanted in ahead > count ? [ahead, count] : [count] {
            if repeating({ files.reserve(fd, from: size, count: wanted) }) == 0 {
                state.room = wanted
                state.hasReserved = true
                return
            }
            let failure = FileError(errno: errno, operation: "write to", path: path)
            guard failure.isFull else {
                // A file system that reserves nothing; and what else is wrong the write will tell.
                state.room = wanted
                return
            }
            if wanted == count { throw failure }
        }
    }

    /// Before the file is closed. Where that fails, the room is given back when the file is next closed, or deleted.
    func giveBackRoom(_ state: inout State) {
        guard state.hasReserved, state.descriptor > STDERR_FILENO, let size = try? size(state) else { return }
        state.hasReserved = false
        state.room = 0
        _ = files.truncate(state.descriptor, to: size)
    }

    /// Writes what stands in the file from `offset` on once more, over itself: after a failed `synchronize()`, which may
    /// have made the system forget that it is still to be brought to the disk. Nobody who reads the file sees it.
    /// - Parameter expected: what must stand there, up to the end of the file; nil: whatever it is.
    /// - Returns: false where something else stands there: then nothing was written.
    public func rewrite(from offset: Int, expecting expected: Bytes? = nil) async throws(FileError) -> Bool {
        guard kind == .regular else { return true }
        return try await call("write to") { [self] state throws(FileError) in
            let end = try size(state)
            if let expected, end - offset != expected.count { return false }
            let fd = state.descriptor
            // In this mode pwrite(2) would append.
            let flags = fcntl(fd, F_GETFL)
            guard flags != -1, fcntl(fd, F_SETFL, flags & ~O_APPEND) != -1 else {
                throw FileError(errno: errno, operation: "write to", path: path)
            }
            defer { _ = fcntl(fd, F_SETFL, flags) }
            var done = offset
            while done < end {
                let piece = try read(state, at: done, count: min(end - done, 1 << 18))
                guard !piece.isEmpty else { return expected == nil }
                if let expected, piece != expected[done - offset..<done - offset + piece.count] { return false }
                var written = 0
                while written < piece.count {
                    let rest = piece[written..<piece.count]
                    let place = done + written
                    let count = rest.withUnsafeBytes { bytes in repeating { files.write(fd, bytes, at: place) } }
                    guard count > 0 else {
                        throw FileError(errno: count == 0 ? EIO : errno, operation: "write to", path: path)
                    }
                    written += count
                }
                done += piece.count
            }
            return true
        }
    }
}
