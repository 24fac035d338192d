// feedbus: events as the store keeps them, and back, byte for byte.

import FeedbusBase
import FeedbusFlow
import FeedbusPlugin
import FeedbusStore

/// Turns events into what the store keeps and back. Remembers the origins that it has seen: what many events share stays
/// shared.
struct EventCodec: Sendable {
    /// Forgotten when there are more.
    private static let cacheLimit = 1_024

    private var stored: [ObjectIdentifier: (event: EventOrigin, stored: StoredOrigin)] = [:]
    private var events: [ObjectIdentifier: (stored: StoredOrigin, event: EventOrigin)] = [:]

    init() {}

    mutating func encode(_ chunk: some Sequence<Event>) -> [StoredEvent] { chunk.map { encode($0) } }

    mutating func encode(_ event: Event) -> StoredEvent {
        StoredEvent(
            origin: storedOrigin(event.origin), id: event.id, subject: event.subject, time: event.time,
            attributes: Self.text(of: event.attributes), data: event.data)
    }

    mutating func decode(_ parts: [StoredEvent]) -> [Event] { parts.map { decode($0) } }

    mutating func decode(_ part: StoredEvent) -> Event {
        Event(
            origin: eventOrigin(part.origin), id: part.id, subject: part.subject, time: part.time, data: part.data,
            attributes: Self.attributes(in: part.attributes))
    }

    // MARK: - Origins

    private mutating func storedOrigin(_ origin: EventOrigin) -> StoredOrigin {
        if let known = stored[ObjectIdentifier(origin)] { return known.stored }
        if stored.count >= Self.cacheLimit { stored = [:] }
        let made = StoredOrigin(
            source: origin.source, type: origin.type, node: origin.node, recorded: origin.recorded)
        stored[ObjectIdentifier(origin)] = (origin, made)
        return made
    }

    private mutating func eventOrigin(_ origin: StoredOrigin) -> EventOrigin {
        if let known = events[ObjectIdentifier(origin)] { return known.event }
        if events.count >= Self.cacheLimit { events = [:] }
        let made = EventOrigin(
            source: origin.source.string, type: origin.type.string, node: origin.node.string,
            recorded: origin.recorded)
        events[ObjectIdentifier(origin)] = (origin, made)
        return made
    }

    // MARK: - Further attributes

    /// One line each: name, `=`, value. A name is of `[a-z0-9]`, and JSON text without blanks has no line breaks.
    private static func text(of attributes: [Event.Attribute]) -> Bytes {
        guard !attributes.isEmpty else { return Bytes() }
        var writer = ByteWriter(capacity: 64)
        for attribute in attributes {
            writer.append(attribute.name)
            writer.append(UInt8(ascii: "="))
            writer.append(attribute.value)
            writer.append(UInt8(ascii: "\n"))
        }
        return writer.finish()
    }

    private static func attributes(in text: Bytes) -> [Event.Attribute] {
        var found: [Event.Attribute] = []
        var start = 0
        var equals: Int?
        for index in 0..<text.count {
            switch text[index] {
            case UInt8(ascii: "=") where equals == nil: equals = index
            case UInt8(ascii: "\n"):
                if let equals {
                    found.append(
                        Event.Attribute(name: text[start..<equals].string, value: text[equals + 1..<index]))
                }
                start = index + 1
                equals = nil
            default: break
            }
        }
        return found
    }
}
