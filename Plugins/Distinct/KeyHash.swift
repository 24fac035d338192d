// feedbus: what is remembered of a key.

import FeedbusPlugin

/// 128 bits that stand for a key. Seeded anew in each process, so that nobody can make two keys meet.
struct KeyHash: Hashable, Sendable {
    var low: UInt64
    var high: UInt64

    /// Strings and other values have hashes of their own: "5" is not 5.
    private static let strings = KeyedHash()
    private static let texts = KeyedHash()

    init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }

    init(_ bytes: UnsafeRawBufferPointer) { self.init(KeyHash.texts.hash(bytes)) }

    /// Equal values have equal hashes, however they are written; see `RawJSON.hash`.
    init(_ value: RawJSON) {
        switch value.kind {
        case .string:
            if let plain = value.plainContent {
                self.init(KeyHash.strings.hash(plain))
            } else {
                self.init((value.string ?? Bytes()).withUnsafeBytes { KeyHash.strings.hash($0) })
            }
        case .number:
            var first = Hasher()
            var second = Hasher()
            second.combine(UInt64(0x6665_6564_6275_7321))
            value.hash { bytes in
                first.combine(bytes: bytes)
                second.combine(bytes: bytes)
            }
            self.init(
                low: UInt64(bitPattern: Int64(first.finalize())), high: UInt64(bitPattern: Int64(second.finalize())))
        case .object, .array, .bool, .null: self.init(value.text)
        }
    }

    private init(_ hash: (low: UInt64, high: UInt64)) { self.init(low: hash.low, high: hash.high) }
}
