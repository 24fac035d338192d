// feedbus: some values of an event's data as its new data.

import FeedbusPlugin

/// Values at pointers, under names, in order; each value's text goes over byte for byte.
struct Pick: Sendable {
    private let finder: JSONFinder
    /// `,"name":` for each pointer, one behind the other.
    private let keys: Bytes
    /// Where they stand in there.
    private let keyPlaces: [TextPlace]

    init(_ fields: [(name: String, pointer: JSONPointer)]) {
        finder = JSONFinder(fields.map(\.pointer))
        var writer = ByteWriter()
        var places: [TextPlace] = []
        for field in fields {
            let start = writer.count
            writer.append(UInt8(ascii: ","))
            writer.appendJSONString(field.name)
            writer.append(UInt8(ascii: ":"))
            places.append(TextPlace(start, writer.count))
        }
        keys = writer.finish()
        keyPlaces = places
    }

    /// Appends objects of the values that are there, one for each text.
    /// - Parameter ended: called behind each.
    func append(
        _ events: PackedEvents, _ range: Range<Int>, to writer: inout ByteWriter, ended: (inout ByteWriter) -> Void
    ) {
        events.places.withUnsafeBufferPointer { texts in
            finder.find(in: events.buffer, UnsafeBufferPointer(rebasing: texts[range])) { _, places in
                append(places, to: &writer)
                ended(&writer)
            }
        }
    }

    /// Appends an object of the values that are there.
    func append(_ text: UnsafeRawBufferPointer, to writer: inout ByteWriter) {
        finder.find(in: text) { append($0, to: &writer) }
    }

    private func append(_ places: borrowing JSONPlaces, to writer: inout ByteWriter) {
        let text = places.text.baseAddress!
        keyPlaces.withUnsafeBufferPointer { keyPlaces in
            var size = 2 + keys.count
            for index in keyPlaces.indices { size += places.range(index)?.count ?? 0 }
            writer.append(upTo: size) { target in
                keys.withUnsafeBytes { keys in
                    var end = 0
                    for index in keyPlaces.indices {
                        guard let value = places.range(index) else { continue }
                        let key = keyPlaces[index]
                        (target + end).copyMemory(from: keys.baseAddress! + Int(key.start), byteCount: key.count)
                        end += key.count
                        (target + end).copyMemory(from: text + value.lowerBound, byteCount: value.count)
                        end += value.count
                    }
                    // In place of the first comma.
                    target.storeBytes(of: UInt8(ascii: "{"), as: UInt8.self)
                    end = max(end, 1)
                    target.storeBytes(of: UInt8(ascii: "}"), toByteOffset: end, as: UInt8.self)
                    return end + 1
                }
            }
        }
    }
}
