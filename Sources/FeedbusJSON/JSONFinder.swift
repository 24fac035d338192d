// feedbus: finds the values at some pointers in one walk over a text, without a document.

import CSimdJSON
public import FeedbusBase

/// Finds values by JSON pointers (RFC 6901) in texts that are known to be valid, such as the data of an event.
///
/// No document is built and nothing is allocated: whatever lies beside the way is skipped by blocks of bytes, and the walk
/// stops where the last value is found. In an object with repeated keys the first counts, as in `JSONValue`.
///
/// `@unchecked Sendable`: what the pointer leads to is written by `init` only, and freed by `deinit`.
public final class JSONFinder: @unchecked Sendable {
    public let pointers: [JSONPointer]
    private let finder: OpaquePointer
    /// The number of the value at each pointer: equal pointers share one.
    private let slots: [Int]
    /// Different values.
    private let count: Int

    public init(_ pointers: [JSONPointer]) {
        guard let finder = csimdjson_finder_make() else { preconditionFailure("no memory for a few pointers") }
        self.pointers = pointers
        self.finder = finder
        slots = pointers.map { pointer in
            var place: UInt32 = 0
            for token in pointer.tokens {
                let index = JSONPointer.arrayIndex(token).flatMap { UInt32(exactly: $0) } ?? .max
                place = token.withUnsafeBytes {
                    csimdjson_finder_step(finder, place, $0.baseAddress, $0.count, min(index, .max))
                }
                precondition(place != .max, "no memory for a few pointers")
            }
            return Int(csimdjson_finder_want(finder, place))
        }
        count = Set(slots).count
    }

    deinit { csimdjson_finder_free(finder) }

    /// Finds the values and hands them to `body`. (Not generic: other modules could not specialise it, and would look up
    /// types for each text.)
    /// - Parameter text: valid JSON; blanks between tokens are fine. Anything else gives places without meaning in it.
    public func find(
        in text: UnsafeRawBufferPointer, _ body: (borrowing JSONPlaces) throws -> Void
    ) rethrows {
        try withUnsafeTemporaryAllocation(of: csimdjson_span.self, capacity: count) { spans in
            csimdjson_find(finder, text.baseAddress, text.count, spans.baseAddress)
            try slots.withUnsafeBufferPointer { slots in
                try body(JSONPlaces(text: text, spans: UnsafeBufferPointer(spans), slots: slots))
            }
        }
    }

    /// Finds the values in texts of one buffer, one after the other, and hands those of each to `body`, with its number.
    ///
    /// The texts are mostly in another core's cache: they are asked for a little ahead.
    package func find(
        in buffer: ByteBuffer, _ places: UnsafeBufferPointer<TextPlace>,
        _ body: (Int, borrowing JSONPlaces) throws -> Void
    ) rethrows {
        let base = UnsafeRawPointer(buffer.base)
        let ahead = 4
        try withUnsafeTemporaryAllocation(of: csimdjson_span.self, capacity: count) { spans in
            try slots.withUnsafeBufferPointer { slots in
                for index in 0..<min(ahead, places.count) { csimdjson_prefetch(base + Int(places[index].start)) }
                for index in places.indices {
                    if index + ahead < places.count { csimdjson_prefetch(base + Int(places[index + ahead].start)) }
                    let text = UnsafeRawBufferPointer(
                        start: base + Int(places[index].start), count: places[index].count)
                    csimdjson_find(finder, text.baseAddress, text.count, spans.baseAddress)
                    try body(index, JSONPlaces(text: text, spans: UnsafeBufferPointer(spans), slots: slots))
                }
            }
        }
    }

    /// The values at the pointers, as slices of the text; nil where there is none.
    public func values(in text: Bytes) -> [Bytes?] {
        var values: [Bytes?] = []
        values.reserveCapacity(pointers.count)
        text.withUnsafeBytes { raw in
            find(in: raw) { places in
                for index in pointers.indices { values.append(places.range(index).map { text[$0] }) }
            }
        }
        return values
    }
}

/// Where the values of a `JSONFinder` stand in one text. Not to be kept: it is about memory that others own.
public struct JSONPlaces: ~Copyable {
    /// All of the text.
    package let text: UnsafeRawBufferPointer
    let spans: UnsafeBufferPointer<csimdjson_span>
    let slots: UnsafeBufferPointer<Int>

    /// The text of the value at the pointer of this number; nil where there is none.
    public subscript(_ pointer: Int) -> RawJSON? {
        range(pointer).map { RawJSON(UnsafeRawBufferPointer(rebasing: text[$0])) }
    }

    /// Where it stands, as offsets in the text.
    public func range(_ pointer: Int) -> Range<Int>? {
        let span = spans[slots[pointer]]
        return span.end == 0 ? nil : Int(span.start)..<Int(span.end)
    }
}
