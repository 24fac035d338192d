// feedbus: bodies that are no text, in recordings.

import FeedbusBase

/// Base64 (RFC 4648, section 4), as HAR wants it.
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func encode(_ bytes: Bytes) -> Bytes {
        var writer = ByteWriter(capacity: (bytes.count + 2) / 3 * 4)
        bytes.withUnsafeBytes { input in
            var at = 0
            while at < input.count {
                let left = min(3, input.count - at)
                var group = UInt32(input[at]) << 16
                if left > 1 { group |= UInt32(input[at + 1]) << 8 }
                if left > 2 { group |= UInt32(input[at + 2]) }
                for place in 0..<4 {
                    writer.append(
                        place <= left ? alphabet[Int(group >> UInt32(18 - 6 * place)) & 63] : UInt8(ascii: "="))
                }
                at += 3
            }
        }
        return writer.finish()
    }

    /// Nil for what is no Base64. Line breaks and missing padding are let through; so is the URL-safe alphabet.
    static func decode(_ text: Bytes) -> Bytes? {
        var writer = ByteWriter(capacity: text.count / 4 * 3 + 3)
        let isWhole: Bool = text.withUnsafeBytes { input in
            var group: UInt32 = 0
            var bits = 0
            var isPadding = false
            for byte in input {
                if byte == 10 || byte == 13 { continue }
                if byte == UInt8(ascii: "=") {
                    isPadding = true
                    continue
                }
                guard !isPadding, let value = value(byte) else { return false }
                group = group << 6 | value
                bits += 6
                if bits >= 8 {
                    bits -= 8
                    writer.append(UInt8(truncatingIfNeeded: group >> UInt32(bits)))
                }
            }
            return bits < 6
        }
        return isWhole ? writer.finish() : nil
    }

    private static func value(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
