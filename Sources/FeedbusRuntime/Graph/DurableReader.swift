// feedbus: one reader of a durable subject: its place, and what it is owed.

import FeedbusBase
import FeedbusFlow
import FeedbusPlugin

/// A stage, sink or subject that reads a durable subject. Its fields belong to the subject's actor.
final class DurableReader {
    let name: String
    /// Where it begins.
    let resume: ResumePoint
    /// The cursors of this reader in the log.
    let ledger: CursorLedger
    /// Hands events to the reader's buffer, as that has room.
    let deliver: @Sendable (Chunk<Event>) async throws -> Void
    /// Nothing more will come.
    let finish: @Sendable () -> Void

    /// The number of the next event to hand on.
    var next: Int64 = 1
    /// The last event that it has had, as it is saved.
    var acked: Int64 = 0
    /// It has come to its own end: nothing is owed to it any more.
    var isDone = false
    /// What it missed and nobody has said yet, and when something was said last.
    var unsaid = 0
    var lastNotice: Instant?
    var waiter: CheckedContinuation<Void, Never>?

    init(
        name: String, resume: ResumePoint, ledger: CursorLedger,
        deliver: @escaping @Sendable (Chunk<Event>) async throws -> Void,
        finish: @escaping @Sendable () -> Void
    ) {
        self.name = name
        self.resume = resume
        self.ledger = ledger
        self.deliver = deliver
        self.finish = finish
    }

    func wake() {
        waiter?.resume()
        waiter = nil
    }
}
