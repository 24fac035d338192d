// feedbus: the event, a CloudEvents 1.0 record whose data is the source's own JSON text.

public import FeedbusBase
import Synchronization

/// What the events of one source and type have in common. Made once and shared by all of them.
public final class EventOrigin: Sendable {
    /// CloudEvents `source`: a URI reference.
    public let source: Bytes
    /// CloudEvents `type`: a reverse-DNS name.
    public let type: Bytes
    /// Extension `feedbusnode`: the name of the source node in the config.
    public let node: Bytes
    /// Extension `recorded`: it came from a recording and not from the live service.
    public let recorded: Bool
    /// Made for the first event that is written as a CloudEvents object: of many events nobody asks for it.
    let envelope = AtomicLazyReference<EventEnvelope>()

    public init(source: String, type: String, node: String, recorded: Bool = false) {
        self.source = Bytes(source)
        self.type = Bytes(type)
        self.node = Bytes(node)
        self.recorded = recorded
    }

    /// Another one with the same content.
    package init(sameAs other: EventOrigin) {
        source = other.source
        type = other.type
        node = other.node
        recorded = other.recorded
    }
}

/// One CloudEvents 1.0 record (https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md).
///
/// `data` is valid, minified JSON text, normally a slice of what was read; nothing that passes an event on changes it.
/// Copying an event copies references only.
public struct Event: Sendable {
    /// A further CloudEvents attribute. `value` is JSON text (a string with its quotes, a boolean, a number).
    public struct Attribute: Sendable, Hashable {
        public var name: String
        public var value: Bytes

        public init(name: String, value: Bytes) {
            self.name = name
            self.value = value
        }
    }

    public var origin: EventOrigin
    /// CloudEvents `id`: stable, the same upstream item has the same id on every poll.
    public var id: Bytes
    /// CloudEvents `subject`; empty where the event has none.
    public var subject: Bytes
    /// CloudEvents `time`, RFC 3339; empty where the event has none.
    public var time: Bytes
    /// Minified JSON text.
    public var data: Bytes
    /// Further attributes, in order, names unique (`[a-z0-9]+`).
    public var attributes: [Attribute]
    /// What tells the source that the event is safe, or that it is lost.
    package var receipt: Receipt?

    public init(
        origin: EventOrigin, id: Bytes, subject: Bytes = Bytes(), time: Bytes = Bytes(), data: Bytes,
        attributes: [Attribute] = []
    ) {
        self.origin = origin
        self.id = id
        self.subject = subject
        self.time = time
        self.data = data
        self.attributes = attributes
        self.receipt = nil
    }

    /// An event that is made of several: it carries all their receipts. Their sources move on when it has arrived, and
    /// each is told the worst that became of it.
    public init(
        joining events: [Event], origin: EventOrigin, id: Bytes, subject: Bytes = Bytes(), time: Bytes = Bytes(),
        data: Bytes, attributes: [Attribute] = []
    ) {
        self.init(origin: origin, id: id, subject: subject, time: time, data: data, attributes: attributes)
        receipt = Receipt.joining(events.compactMap(\.receipt))
    }

    public subscript(attribute name: String) -> Bytes? {
        attributes.first { $0.name == name }?.value
    }

    /// Sets a further attribute, or replaces it.
    public mutating func set(_ name: String, to value: Bytes) {
        if let index = attributes.firstIndex(where: { $0.name == name }) {
            attributes[index].value = value
        } else {
            attributes.append(Attribute(name: name, value: value))
        }
    }

    /// The event without its receipt and without the large buffer that it was read in: to keep for long.
    ///
    /// An event that is kept with its receipt keeps its source from moving on.
    public func detached() -> Event {
        var copy = self
        copy.receipt = nil
        copy.id = id.compacted()
        copy.subject = subject.compacted()
        copy.time = time.compacted()
        copy.data = data.compacted()
        return copy
    }

    /// The bytes that the event keeps in memory, roughly.
    public var weight: Int { data.count + id.count + subject.count + 160 }
}
