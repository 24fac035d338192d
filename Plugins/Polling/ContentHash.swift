// feedbus: a short name for a text, the same in every run.

public import FeedbusPlugin

extension Bytes {
    /// FNV-1a of 64 bits, with a final mix. It names a revision and proves nothing.
    public var contentHash: UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        withUnsafeBytes { text in
            for byte in text { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        }
        hash = (hash ^ (hash >> 32)) &* 0xD6E8_FEB8_6659_FD93
        hash ^= hash >> 32
        return hash
    }

    /// The same as 16 hexadecimal digits.
    public var contentHashText: String { Self.digits(ofHash: contentHash) }

    /// 16 hexadecimal digits.
    public static func digits(ofHash hash: UInt64) -> String {
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
