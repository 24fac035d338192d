// feedbus: an event as the store has it: its parts as bytes, nothing interpreted.

import FeedbusBase

/// What the events of one source and type have in common. Shared by reference: events in a row mostly have the same one.
package final class StoredOrigin: Sendable, Hashable {
    package let source: Bytes
    package let type: Bytes
    package let node: Bytes
    package let recorded: Bool

    package init(source: Bytes, type: Bytes, node: Bytes, recorded: Bool) {
        self.source = source
        self.type = type
        self.node = node
        self.recorded = recorded
    }

    package static func == (left: StoredOrigin, right: StoredOrigin) -> Bool {
        left === right
            || left.source == right.source && left.type == right.type && left.node == right.node
                && left.recorded == right.recorded
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(source)
        hasher.combine(type)
        hasher.combine(node)
        hasher.combine(recorded)
    }
}

/// An event, in parts. Every part is kept byte for byte.
package struct StoredEvent: Sendable, Equatable {
    package var origin: StoredOrigin
    package var id: Bytes
    package var subject: Bytes
    package var time: Bytes
    /// The further attributes, in a form that only their owner reads.
    package var attributes: Bytes
    package var data: Bytes

    package init(
        origin: StoredOrigin, id: Bytes, subject: Bytes = Bytes(), time: Bytes = Bytes(), attributes: Bytes = Bytes(),
        data: Bytes
    ) {
        self.origin = origin
        self.id = id
        self.subject = subject
        self.time = time
        self.attributes = attributes
        self.data = data
    }

    /// What it counts for against a limit in bytes: its text.
    package var size: Int { id.count + subject.count + time.count + attributes.count + data.count }
}

extension WallTime {
    /// Milliseconds since 1970, as the store keeps times.
    package var milliseconds: Int64 { seconds &* 1_000 &+ Int64(nanoseconds) / 1_000_000 }

    package init(milliseconds: Int64) {
        let seconds = milliseconds >= 0 ? milliseconds / 1_000 : (milliseconds - 999) / 1_000
        self.init(seconds: seconds, nanoseconds: Int32((milliseconds - seconds * 1_000) * 1_000_000))
    }
}
