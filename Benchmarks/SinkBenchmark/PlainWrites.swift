// feedbus: what the system calls alone cost: the loop of writes that a C program would have.

import Glibc

/// Batches of bytes that are made beforehand, each with one write(2).
struct PlainWrites {
    /// fdatasync(2): never, behind each write, before the close.
    enum Sync { case none, batch, end }

    static func run(path: String, batches: [[UInt8]], sync: Sync) -> Cost {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0o644)
        precondition(file >= 0, "cannot open \(path)")
        let started = Cost.now
        for batch in batches {
            let count = batch.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            precondition(count == batch.count, "a write failed")
            if sync == .batch { precondition(fdatasync(file) == 0, "a sync failed") }
        }
        if sync == .end { precondition(fdatasync(file) == 0, "a sync failed") }
        close(file)
        return Cost.now - started
    }
}
