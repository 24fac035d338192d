// feedbus: what is sent again, and where to.

import FeedbusBase
import FeedbusStore

/// What `feedbus replay` was asked for.
package struct ReplayRequest: Sendable, Equatable {
    package enum Content: Sendable, Equatable {
        case subject(String, from: ReplayStart)
        /// Of one node, or of all.
        case deadLetters(node: String?)
    }

    package var content: Content
    /// A sink, or for dead letters also a stage; nil: every dead letter to the node that could not treat it.
    package var target: String?

    package init(content: Content, target: String?) {
        self.content = content
        self.target = target
    }
}

/// Where in a log a replay begins.
package enum ReplayStart: Sendable, Equatable {
    case first
    case time(WallTime)
    case id(String)

    /// `first`, an RFC 3339 time, or else the id of an event.
    package init(argument: String) {
        if argument == "first" {
            self = .first
        } else if let time = WallTime(rfc3339: argument) {
            self = .time(time)
        } else {
            self = .id(argument)
        }
    }

    var inLog: LogStart {
        switch self {
        case .first: .first
        case .time(let time): .time(time)
        case .id(let id): .id(Bytes(id))
        }
    }

    /// That a log has nothing there.
    package var missing: String {
        switch self {
        case .first: "has no events"
        case .time(let time): "has no event stored at \(time.rfc3339()) or later"
        case .id(let id): "has no event with the id \"\(id)\""
        }
    }
}
