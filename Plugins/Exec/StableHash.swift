// feedbus: an id for what has none.

import FeedbusPlugin

/// A 64-bit hash that is the same in every run, on every machine. No defence against somebody who seeks collisions.
enum StableHash {
    /// The hash of a line's content and place, as 16 hexadecimal digits.
    static func id(_ text: Bytes, position: Int) -> Bytes {
        digits(hash(text, seed: UInt64(truncatingIfNeeded: position)))
    }

    /// The hash of what was made of the event with the id `origin`.
    static func id(_ text: Bytes, of origin: Bytes) -> Bytes {
        digits(hash(text, seed: hash(origin, seed: 0)))
    }

    private static func hash(_ text: Bytes, seed: UInt64) -> UInt64 {
        var state = mixed(seed &+ 0x9E37_79B9_7F4A_7C15)
        text.withUnsafeBytes { bytes in
            var at = 0
            while at + 8 <= bytes.count {
                let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self))
                state = (state ^ word) &* 0x9FB2_1C65_1E98_DF25
                state ^= state >> 32
                at += 8
            }
            var last = UInt64(bytes.count) << 56
            for (shift, index) in (at..<bytes.count).enumerated() {
                last |= UInt64(bytes[index]) << (8 * UInt64(shift))
            }
            state = mixed(state ^ last)
        }
        return state
    }

    private static func digits(_ state: UInt64) -> Bytes {
        Bytes(
            buffer: ByteBuffer(capacity: 16) { target in
                for index in 0..<16 {
                    let digit = UInt8(truncatingIfNeeded: state >> UInt64(60 - 4 * index)) & 0xF
                    target[index] = digit < 10 ? 0x30 + digit : 0x57 + digit
                }
                return 16
            })
    }

    /// The finaliser of SplitMix64 behind a multiplication: every bit of the input reaches every bit of the result.
    private static func mixed(_ value: UInt64) -> UInt64 {
        var mixed = value &* 0x9FB2_1C65_1E98_DF25
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
