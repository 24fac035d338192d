// feedbus: some values of an event's data as its new data.

import FeedbusPlugin

/// Values at pointers, under names, in order; each value's text goes over byte for byte.
struct Pick: Sendable {
    private let finder: JSONFinder
    /// `"name":` for each pointer.
    private let keys: [Bytes]

    init(_ fields: [(name: String, pointer: JSONPointer)]) {
        finder = JSONFinder(fields.map(\.pointer))
        keys = fields.map { field in
            var writer = ByteWriter()
            writer.appendJSONString(field.name)
            writer.append(UInt8(ascii: ":"))
            return writer.finish()
        }
    }

    /// Appends an object of the values that are there.
    func append(_ text: UnsafeRawBufferPointer, to writer: inout ByteWriter) {
        finder.find(in: text) { places in
            var mark = UInt8(ascii: "{")
            for index in keys.indices {
                guard let value = places[index] else { continue }
                writer.append(mark)
                mark = UInt8(ascii: ",")
                writer.append(keys[index])
                writer.append(value.text)
            }
            if mark == UInt8(ascii: "{") { writer.append(mark) }
            writer.append(UInt8(ascii: "}"))
        }
    }
}
