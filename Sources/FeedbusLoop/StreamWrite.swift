// feedbus: writes to pipes and terminals, whose reader may be slow.

internal import CLibuv
internal import FeedbusBase
internal import Glibc
internal import Synchronization

/// Ends the wait of one write from another thread.
final class Interrupt: Sendable {
    private struct State {
        var isFired = false
        /// An eventfd, while somebody waits.
        var event: Int32 = -1
    }

    private let state = Mutex(State())

    func fire() {
        state.withLock { state in
            state.isFired = true
            if state.event >= 0 { feedbus_eventfd_fire(state.event) }
        }
    }

    /// Whether the interrupt was fired.
    var isFired: Bool { state.withLock { $0.isFired } }

    /// Waits, so many milliseconds at most, until bytes can be written, or the reader has gone. False where the time is
    /// over, or the interrupt was fired.
    func waitUntilWritable(_ fd: Int32, milliseconds: Int32) -> Bool {
        var watched = [pollfd(fd: fd, events: Int16(POLLOUT), revents: 0)]
        if repeating({ poll(&watched, 1, 0) }) > 0 { return true }
        let event = feedbus_eventfd_make()
        let mayWait = state.withLock { state in
            if !state.isFired { state.event = event }
            return !state.isFired
        }
        defer {
            state.withLock { $0.event = -1 }
            if event >= 0 { closeDescriptor(event) }
        }
        guard mayWait else { return false }
        watched.append(pollfd(fd: event, events: Int16(POLLIN), revents: 0))
        _ = repeating { poll(&watched, 2, milliseconds) }
        return watched[0].revents != 0
    }
}

/// Writes until all is taken, the reader has taken nothing for a moment, or the interrupt is fired.
/// Returns how much was taken.
///
/// The wait is short because the pool has few threads: a handful of readers that have stopped reading must not keep
/// everybody else from it.
///
/// Standard output is shared with other programs, so it is not made non-blocking. Where poll(2) says that a pipe has
/// room, up to `PIPE_BUF` bytes can be written without blocking, so that no write blocks.
func writeStream(
    _ fd: Int32, _ bytes: Bytes, _ interrupt: Interrupt, patience: Int32, _ path: String
) throws(FileError) -> Int {
    var done = 0
    while done < bytes.count {
        guard interrupt.waitUntilWritable(fd, milliseconds: patience) else { return done }
        let piece = bytes[done..<min(done + pipeBuffer, bytes.count)]
        let count = piece.withUnsafeBytes { source in
            repeating { write(fd, source.baseAddress!, source.count) }
        }
        if count >= 0 {
            done += count
        } else if errno != EAGAIN {
            // What was taken before is told first; the next call meets the error again.
            if done > 0 { return done }
            throw FileError(errno: errno, operation: "write to", path: path)
        }
    }
    return done
}

/// Linux's PIPE_BUF.
private let pipeBuffer = 4_096
