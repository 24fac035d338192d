// feedbus: hashes that nobody can make collide.

import CSimdJSON

/// 128 bits of SipHash-2-4 (https://github.com/veorq/SipHash), with a key that nobody else knows.
public struct KeyedHash: Sendable {
    private let key: (UInt64, UInt64)

    /// With a key of its own.
    public init() { self.init(key: (.random(in: 0 ... .max), .random(in: 0 ... .max))) }

    package init(key: (UInt64, UInt64)) { self.key = key }

    public func hash(_ bytes: UnsafeRawBufferPointer) -> (low: UInt64, high: UInt64) {
        return withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 4) { words in
            words.initialize(repeating: 0)
            (words[0], words[1]) = (key.0, key.1)
            csimdjson_keyed_hash(words.baseAddress, bytes.baseAddress, bytes.count, words.baseAddress! + 2)
            return (words[2], words[3])
        }
    }
}
