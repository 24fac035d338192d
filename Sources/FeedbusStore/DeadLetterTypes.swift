// feedbus: events that could not be delivered, set aside with the reason.

import FeedbusBase

/// An event, or a text that is none, that a node could not treat.
package struct DeadLetter: Sendable, Equatable {
    package enum Body: Sendable, Equatable {
        case event(StoredEvent)
        /// A line that is no event.
        case raw(Bytes)

        package var size: Int {
            switch self {
            case .event(let event): event.size
            case .raw(let text): text.count
            }
        }
    }

    /// Given by the store, in the order of arrival.
    package var number: Int64 = 0
    /// The node that refused it or failed on it.
    package var node: String
    package var reason: String
    package var at: WallTime
    package var body: Body

    package init(number: Int64 = 0, node: String, reason: String, at: WallTime, body: Body) {
        self.number = number
        self.node = node
        self.reason = reason
        self.at = at
        self.body = body
    }

    var size: Int { body.size + reason.utf8.count }
    /// It is no event.
    var isText: Bool { if case .raw = body { true } else { false } }
}

/// How many dead letters are kept.
package struct DeadLetterCap: Sendable, Equatable {
    /// What happens with one more.
    package enum WhenFull: String, Sendable, CaseIterable {
        /// It is not taken: its source goes no further, and gives it again at the next start.
        case block
        /// The oldest one goes, counted.
        case dropOldest = "drop_oldest"
        /// It goes itself, counted.
        case dropNewest = "drop_newest"
    }

    package var events = 100_000
    package var bytes = 256 << 20
    package var whenFull = WhenFull.block

    package init() {}
}

/// What became of letters.
package struct DeadLettersTaken: Sendable, Equatable {
    /// Letters of one node that the policy dropped.
    package struct Gone: Sendable, Equatable {
        package var events = 0
        /// Texts that are no events.
        package var texts = 0
        package var count: Int { events + texts }

        package init(events: Int = 0, texts: Int = 0) {
            self.events = events
            self.texts = texts
        }
    }

    /// The first so many were taken, or were dropped by the policy.
    package var settled = 0
    /// Letters that the policy dropped, old or new ones.
    package var dropped = 0
    /// Those among them that were added since the state was opened, by node: also new ones that were never there.
    package var gone: [String: Gone] = [:]
}
