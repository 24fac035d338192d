// feedbus: what is remembered of a key.

import FeedbusPlugin

/// 128 bits that stand for a key. Seeded anew in each process, so that nobody can make two keys meet.
struct KeyHash: Hashable, Sendable {
    var low: UInt64
    var high: UInt64

    init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }

    init(_ bytes: UnsafeRawBufferPointer) {
        self.init { $0(bytes) }
    }

    /// Equal values have equal hashes, however they are written; see `RawJSON.hash`.
    init(_ value: RawJSON) {
        self.init { value.hash(into: $0) }
    }

    private init(_ feed: ((UnsafeRawBufferPointer) -> Void) -> Void) {
        var first = Hasher()
        var second = Hasher()
        second.combine(UInt64(0x6665_6564_6275_7321))
        feed { bytes in
            first.combine(bytes: bytes)
            second.combine(bytes: bytes)
        }
        low = UInt64(bitPattern: Int64(first.finalize()))
        high = UInt64(bitPattern: Int64(second.finalize()))
    }
}
