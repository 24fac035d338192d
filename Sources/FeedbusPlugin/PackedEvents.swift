// feedbus: many events that are texts of one buffer, without an object or a reference for any of them.

import FeedbusBase
import FeedbusFlow
import FeedbusJSON
import Synchronization

/// Events of one emission and one origin that have nothing but an id and data, as they are read from lines.
///
/// A chunk of them goes from a source through a filter to a sink as a list of places in what was read. Who needs an
/// `Event` gets one made. Every text is one JSON value without a line feed in it.
package final class PackedEvents: PackedElements {
    /// Where the ids are.
    package enum IDs: Sendable {
        /// They are made, when somebody asks, of these texts and their places, counted from `position`: see `StableHash`.
        /// Mostly the texts are the data; where a stage has replaced that, they are kept for the ids alone.
        case made(of: ByteBuffer, [TextPlace], position: UInt64)
        /// Texts of a buffer.
        case texts(ByteBuffer, [TextPlace])
    }

    package let origin: EventOrigin
    package let buffer: ByteBuffer
    package let places: [TextPlace]
    package let ids: IDs
    /// A line feed stands behind every text in the buffer.
    package let areFollowed: Bool
    private let receipt: Receipt?
    private let wholeWeight: Int
    /// Ids that were asked for: 16 digits each.
    private let made = Mutex<ByteBuffer?>(nil)

    package init(
        origin: EventOrigin, buffer: ByteBuffer, places: [TextPlace], ids: IDs, areFollowed: Bool,
        receipt: Receipt? = nil
    ) {
        switch ids {
        case .texts(_, let ids), .made(_, let ids, _): precondition(ids.count == places.count, "an id for each event")
        }
        self.origin = origin
        self.buffer = buffer
        self.places = places
        self.ids = ids
        self.areFollowed = areFollowed
        self.receipt = receipt
        wholeWeight = PackedEvents.weight(of: places[...], in: buffer, ids)
    }

    /// The same events with a receipt.
    package func with(_ receipt: Receipt) -> PackedEvents {
        PackedEvents(
            origin: origin, buffer: buffer, places: places, ids: ids, areFollowed: areFollowed, receipt: receipt)
    }

    /// Events that stand for these, with other data.
    /// - Parameter ids: of the same number; see `ids(of:)`.
    package func replacing(buffer: ByteBuffer, places: [TextPlace], ids: IDs, areFollowed: Bool) -> PackedEvents {
        PackedEvents(
            origin: origin, buffer: buffer, places: places, ids: ids, areFollowed: areFollowed, receipt: receipt)
    }

    // MARK: - As elements

    package var count: Int { places.count }

    package func element(at index: Int) -> Event {
        let id: Bytes
        switch ids {
        case .made: id = Bytes(buffer: madeIDs(), range: 16 * index..<16 * index + 16)
        case .texts(let texts, let ids): id = Bytes(buffer: texts, range: ids[index].range)
        }
        var event = Event(origin: origin, id: id, data: Bytes(buffer: buffer, range: places[index].range))
        event.receipt = receipt
        return event
    }

    package func weight(of range: Range<Int>) -> Int {
        range.count == count ? wholeWeight : PackedEvents.weight(of: places[range], in: buffer, ids)
    }

    /// What `Event.weight` is for each of them, together; and the texts that are kept for the ids alone.
    private static func weight(of places: ArraySlice<TextPlace>, in buffer: ByteBuffer, _ ids: IDs) -> Int {
        var sum = 160 * places.count
        for place in places { sum += place.count }
        switch ids {
        case .made(let texts, let ids, _):
            sum += 16 * places.count
            if texts !== buffer { for place in ids[places.indices] { sum += place.count } }
        case .texts(_, let ids): for place in ids[places.indices] { sum += place.count }
        }
        return sum
    }

    /// The ids of some of the events.
    package func ids(of range: Range<Int>) -> IDs {
        let isAll = range.count == count
        switch ids {
        case .texts(let texts, let ids): return .texts(texts, isAll ? ids : Array(ids[range]))
        case .made(let texts, let ids, let position):
            return .made(of: texts, isAll ? ids : Array(ids[range]), position: position)
        }
    }

    private func madeIDs() -> ByteBuffer {
        guard case .made(let texts, let places, let position) = ids else { return .empty }
        return made.withLock { made in
            if let made { return made }
            let all = StableHash.ids(of: places[...], in: texts, position: position)
            made = all
            return all
        }
    }
}

extension Chunk<Event> {
    /// A chunk of all of these.
    package init(_ packed: PackedEvents) { self.init(packed: packed) }

    /// The events that the chunk is a part of, and which part; nil where it is no part of packed ones.
    package var packedEvents: (events: PackedEvents, range: Range<Int>)? {
        guard let (elements, range) = packed, let events = elements as? PackedEvents else { return nil }
        return (events, range)
    }

    /// The events for which the answer is true, in order: the chunk itself, or a slice of it, where that says it.
    /// - Parameter isKept: is given what the finder finds in the data of each.
    package func keeping(by finder: JSONFinder, _ isKept: (borrowing JSONPlaces) -> Bool) -> Chunk<Event> {
        guard let (events, range) = packedEvents else {
            return keeping { index in
                var keeps = false
                self[index].data.withUnsafeBytes { data in finder.find(in: data) { keeps = isKept($0) } }
                return keeps
            }
        }
        return withUnsafeTemporaryAllocation(of: Int32.self, capacity: range.count) { kept in
            var number = 0
            events.places.withUnsafeBufferPointer { places in
                finder.find(in: events.buffer, UnsafeBufferPointer(rebasing: places[range])) { index, found in
                    guard isKept(found) else { return }
                    kept.initializeElement(at: number, to: Int32(truncatingIfNeeded: range.lowerBound + index))
                    number += 1
                }
            }
            guard number > 0 else { return Chunk() }
            let (first, last) = (Int(kept[0]), Int(kept[number - 1]))
            if last - first + 1 == number { return dropFirst(first - range.lowerBound).prefix(number) }
            return Chunk(events.some(UnsafeBufferPointer(rebasing: kept[..<number])))
        }
    }
}

extension PackedEvents {
    /// The events of these numbers.
    fileprivate func some(_ numbers: UnsafeBufferPointer<Int32>) -> PackedEvents {
        func picked(_ all: [TextPlace]) -> [TextPlace] {
            [TextPlace](unsafeUninitializedCapacity: numbers.count) { target, count in
                for (index, number) in numbers.enumerated() {
                    target.initializeElement(at: index, to: all[Int(number)])
                }
                count = numbers.count
            }
        }
        let kept = picked(places)
        let left: IDs =
            switch ids {
            case .made(let texts, _, let position) where texts === buffer: .made(of: texts, kept, position: position)
            case .made(let texts, let all, let position): .made(of: texts, picked(all), position: position)
            case .texts(let texts, let all): .texts(texts, picked(all))
            }
        return replacing(buffer: buffer, places: kept, ids: left, areFollowed: areFollowed)
    }
}
