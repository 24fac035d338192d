// feedbus: what the system calls alone cost: the loop of writes that a C program would have.

import Glibc

/// Batches of bytes that are made beforehand, each with one write(2).
struct PlainWrites {
    enum Sync { case none, batch }

    /// - Returns: seconds.
    static func run(path: String, batches: [[UInt8]], sync: Sync) -> Double {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0o644)
        precondition(file >= 0, "cannot open \(path)")
        let started = now()
        for batch in batches {
            let count = batch.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            precondition(count == batch.count, "a write failed")
            if sync == .batch { precondition(fdatasync(file) == 0, "a sync failed") }
        }
        close(file)
        return now() - started
    }
}

/// Seconds of the monotonic clock.
func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
