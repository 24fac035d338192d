// feedbus: an id for what has none.

import CSimdJSON
import FeedbusBase

/// A 64-bit hash that is the same in every run, on every machine. No defence against somebody who seeks collisions.
package enum StableHash {
    /// The hash of a text's content and place, as 16 hexadecimal digits.
    package static func id(_ text: Bytes, position: Int) -> Bytes {
        digits(hash(text, seed: UInt64(truncatingIfNeeded: position)))
    }

    /// The hash of what was made of the event with the id `origin`.
    package static func id(_ text: Bytes, of origin: Bytes) -> Bytes {
        digits(hash(text, seed: hash(origin, seed: 0)))
    }

    /// The ids of texts of one buffer, 16 digits each, one behind the other: of each its content and its place, counted
    /// from `position`.
    package static func ids(of places: ArraySlice<TextPlace>, in texts: ByteBuffer, position: UInt64) -> ByteBuffer {
        ByteBuffer(capacity: 16 * places.count) { target in
            places.withUnsafeBufferPointer { places in
                // The same two numbers.
                places.withMemoryRebound(to: csimdjson_span.self) { spans in
                    guard let first = spans.baseAddress, let target = target.baseAddress else { return }
                    csimdjson_write_ids(texts.base, first, spans.count, position, target)
                }
            }
            return 16 * places.count
        }
    }

    package static func hash(_ text: Bytes, seed: UInt64) -> UInt64 {
        text.withUnsafeBytes { csimdjson_hash($0.baseAddress, $0.count, seed) }
    }

    private static func digits(_ hash: UInt64) -> Bytes {
        Bytes(
            buffer: ByteBuffer(capacity: 16) { target in
                csimdjson_write_hex(hash, target.baseAddress)
                return 16
            })
    }
}
