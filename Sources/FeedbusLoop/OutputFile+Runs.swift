// feedbus: writes many slices of memory with one call.

public import FeedbusBase
internal import Glibc

extension OutputFile {
    /// The most slices that the system takes in one call (Linux's IOV_MAX).
    private static let mostSlices = 1_024

    /// Appends lines from where they stand, and returns how many bytes the system has taken; see `write(_:)` for Bytes.
    ///
    /// A regular file gets one writev(2), or several of whole lines where there are more slices than the system takes; where
    /// the disk has no room for all of them, it gets none.
    public func write(_ lines: ByteRuns) async throws(FileError) -> Int {
        guard kind == .regular else { return try await write(lines.joined) }
        if lines.count == 0 { return 0 }
        return try await call("write") { [self] state throws(FileError) in
            try makeRoom(for: lines.count, &state)
            let runs = lines.runs
            var done = 0
            var first = 0
            while first < runs.count {
                var end = min(first + OutputFile.mostSlices, runs.count)
                while !runs[end - 1].endsLine { end -= 1 }
                let wanted = runs[first..<end].reduce(0) { $0 + $1.place.count }
                let count: Int
                do throws(FileError) {
                    count = try taken(write(runs[first..<end], of: lines, to: state.descriptor), &state)
                } catch {
                    // What was taken before is told first; the next call meets the error again.
                    if done > 0 { return done }
                    throw error
                }
                done += count
                if count < wanted { return done }
                first = end
            }
            return done
        }
    }

    private func write(_ runs: ArraySlice<ByteRuns.Run>, of lines: ByteRuns, to fd: Int32) -> Int {
        withUnsafeTemporaryAllocation(of: iovec.self, capacity: runs.count) { vector in
            for (index, run) in runs.enumerated() {
                vector.initializeElement(
                    at: index, to: iovec(iov_base: lines.base(of: run), iov_len: run.place.count))
            }
            return repeating { files.write(fd, UnsafeBufferPointer(rebasing: vector[..<runs.count])) }
        }
    }
}
