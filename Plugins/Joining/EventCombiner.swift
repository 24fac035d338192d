// feedbus: one event out of several.

public import FeedbusPlugin
import Synchronization

/// Makes an event whose `data` has a member for each input, with the text of that input's data as it is.
public final class EventCombiner: Sendable {
    private struct Cache {
        /// Kept, so that its identity stays its own.
        var first: EventOrigin?
        var recorded = false
        var combined: EventOrigin?
    }

    /// `{"a":`, `,"b":`
    private let openings: [Bytes]
    private let type: String
    private let cache = Mutex(Cache())

    /// - Parameter inputs: the names in `from`, in order.
    public init(_ options: JoinOptions, inputs: [String]) {
        openings = (options.names ?? inputs).enumerated().map { index, name in
            Bytes((index == 0 ? "{" : ",") + JSON.quote(name).string + ":")
        }
        type = options.type
    }

    /// The event that is made of these, one of each input, in order. It carries all their receipts; its source and node
    /// are those of the first, its time is the latest, its id is theirs joined by `+`.
    public func combine(_ events: [Event]) -> Event {
        var data = ByteWriter(
            capacity: zip(openings, events).reduce(1) { $0 + $1.0.count + $1.1.data.count })
        var id = ByteWriter(capacity: events.reduce(0) { $0 + $1.id.count + 1 })
        for (index, event) in events.enumerated() {
            data.append(openings[index])
            data.append(event.data)
            if index > 0 { id.append(UInt8(ascii: "+")) }
            id.append(event.id)
        }
        data.append(UInt8(ascii: "}"))
        return Event(
            joining: events, origin: origin(of: events), id: id.finish(), time: Self.latest(events.map(\.time)),
            data: data.finish())
    }

    private func origin(of events: [Event]) -> EventOrigin {
        let first = events[0].origin
        let recorded = events.contains { $0.origin.recorded }
        return cache.withLock { cache in
            if cache.first === first, cache.recorded == recorded, let combined = cache.combined { return combined }
            let combined = EventOrigin(
                source: first.source.string, type: type, node: first.node.string, recorded: recorded)
            cache = Cache(first: first, recorded: recorded, combined: combined)
            return combined
        }
    }

    /// The latest of RFC 3339 times, whatever their offsets; empty where there is none.
    static func latest(_ times: [Bytes]) -> Bytes {
        var latest = Bytes()
        var point: WallTime?
        for time in times where !time.isEmpty && time != latest {
            guard let next = WallTime(rfc3339: time) else { continue }
            if let known = point, known >= next { continue }
            latest = time
            point = next
        }
        return latest
    }
}
