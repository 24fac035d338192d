// feedbus: writes the log to stderr without ever holding the loop.

import FeedbusBase
import FeedbusLoop
import FeedbusPlugin
import Glibc
import Synchronization

/// Takes log records from anywhere and writes them in order on the thread pool. What does not fit into its bound
/// because nobody reads stderr is dropped, counted and said.
package final class LogWriter: Sendable {
    private struct State: ~Copyable {
        var pending: [UInt8] = []
        var lost = 0
        var isWriting = false
        var host: (any LoopHost)?
    }

    /// The most bytes that wait.
    private static let bound = 1 << 20

    private let text: LogText
    private let wallTime: @Sendable () -> WallTime
    private let state = Mutex(State())

    package init(text: LogText, wallTime: @escaping @Sendable () -> WallTime) {
        self.text = text
        self.wallTime = wallTime
    }

    /// The front for everything that logs.
    package func log(level: LogLevel) -> Log { Log(level: level) { self.write($0) } }

    /// From now on the pool of this loop writes; nil: the caller does, at once.
    package func use(_ host: (any LoopHost)?) {
        state.withLock { $0.host = host }
        if host == nil { flush() }
    }

    private func write(_ record: LogRecord) {
        let line = text.line(record, at: wallTime())
        let start: (any LoopHost)? = state.withLock { state in
            if state.pending.count + line.utf8.count > Self.bound {
                state.lost += 1
            } else {
                state.pending.append(contentsOf: line.utf8)
            }
            guard let host = state.host, !state.isWriting else { return nil }
            state.isWriting = true
            return host
        }
        if let start {
            start.task {
                do { try await start.offload { self.drain() } } catch { self.drain() }
            }
        } else if state.withLock({ $0.host == nil }) {
            flush()
        }
    }

    /// Writes what waits, on the calling thread.
    package func flush() { drain() }

    private func drain() {
        while true {
            let batch: [UInt8] = state.withLock { state in
                var batch = state.pending
                state.pending = []
                if state.lost > 0 {
                    let record = LogRecord(
                        level: .warning,
                        message: "\(state.lost) log records dropped: nobody reads stderr fast enough")
                    batch.append(contentsOf: text.line(record, at: wallTime()).utf8)
                    state.lost = 0
                }
                if batch.isEmpty { state.isWriting = false }
                return batch
            }
            if batch.isEmpty { return }
            var at = 0
            while at < batch.count {
                let written = batch.withUnsafeBytes { Glibc.write(2, $0.baseAddress! + at, batch.count - at) }
                if written < 0 && errno == EINTR { continue }
                // A closed stderr: there is nobody to tell.
                if written <= 0 { break }
                at += written
            }
        }
    }
}
