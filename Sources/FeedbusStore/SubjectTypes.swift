// feedbus: what is said of the log of a durable subject.

import FeedbusBase

/// What a durable subject keeps.
package struct Retention: Sendable, Equatable {
    /// What happens when the log has reached `limit` and nothing in it may go.
    package enum WhenFull: String, Sendable, CaseIterable {
        /// The subject takes no more until a reader has caught up.
        case block
        /// The oldest event goes, also where a reader has not had it; counted.
        case dropOldest = "drop_oldest"
    }

    /// Of what every reader has had, at most so many of the newest events stay, 0...
    package var events = 100_000
    /// ... of at most so many bytes,
    package var bytes = 256 << 20
    /// ... and no older than this.
    package var age: Duration?
    /// The last so many always stay: what a new reader gets first.
    package var replay = 0
    /// The log is never larger, in bytes of events: save for a single event that is larger than this, and for `replay`
    /// where the policy is to block.
    package var limit = 1 << 30
    package var whenFull = WhenFull.block

    package init() {}
}

/// What a log has when its subject starts.
package struct SubjectPosition: Sendable, Equatable {
    /// The oldest event that it has, or `next`.
    package var first: Int64
    /// The number of the next event, 1...
    package var next: Int64
    /// For each reader the last event that it has had.
    package var acked: [String: Int64]
    /// Readers of earlier runs that are not there now, and what each has had.
    package var away: [String: Int64]
}

/// What an append did.
package struct Appended: Sendable, Equatable {
    /// The number of the first event that was added; the others follow.
    package var first: Int64
    /// The oldest event that the log has now.
    package var oldest: Int64
    /// Events that the limit took away although a reader has not had them: all before this number; nil where none went.
    package var droppedBefore: Int64?
}

/// A run of events from a log.
package struct LogPart: Sendable {
    /// The number of the first one; the others follow without a gap.
    package var first: Int64
    package var events: [StoredEvent]
    /// When the first one was stored, milliseconds since 1970.
    package var storedAt: Int64

    package init(first: Int64, events: [StoredEvent], storedAt: Int64) {
        self.first = first
        self.events = events
        self.storedAt = storedAt
    }
}

/// Where a replay begins.
package enum LogStart: Sendable, Equatable {
    case first
    /// The first event that was stored at this time or later.
    case time(WallTime)
    /// The first event with this id.
    case id(Bytes)
}
