// feedbus: one event of the events of a window.

import FeedbusPlugin
import Synchronization

/// Makes the events that stand for windows.
final class WindowMaker: Sendable {
    private let type: String
    /// What windows with events of one origin have in common.
    private let origins = Mutex<[ObjectIdentifier: (inner: EventOrigin, window: EventOrigin)]>([:])

    init(type: String) { self.type = type }

    /// `{"count":2,"events":[…,…]}`; nil for an empty window.
    ///
    /// The id is that of the first event, two dots, and that of the last; source, node and subject are the first event's,
    /// the time is the last one's.
    func event(of events: [Event]) -> Event? {
        guard let first = events.first, let last = events.last else { return nil }
        var writer = ByteWriter(capacity: events.reduce(32) { $0 + $1.data.count + 1 })
        writer.append("{\"count\":\(events.count),\"events\":[")
        for (index, event) in events.enumerated() {
            if index > 0 { writer.append(UInt8(ascii: ",")) }
            writer.append(event.data)
        }
        writer.append("]}" as StaticString)
        return Event(
            joining: events, origin: origin(for: first.origin), id: Bytes("\(first.id.string)..\(last.id.string)"),
            subject: first.subject, time: last.time, data: writer.finish())
    }

    private func origin(for inner: EventOrigin) -> EventOrigin {
        origins.withLock { origins in
            if let known = origins[ObjectIdentifier(inner)] { return known.window }
            // A source may make an origin for each poll.
            if origins.count >= 64 { origins = [:] }
            let window = EventOrigin(
                source: inner.source.string, type: type, node: inner.node.string, recorded: inner.recorded)
            origins[ObjectIdentifier(inner)] = (inner, window)
            return window
        }
    }
}
