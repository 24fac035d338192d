// feedbus: percent-encoding (RFC 3986, section 2.1).

/// Reads percent-encoded text.
enum Percent {
    /// `+` is a blank, as in queries; what is no proper escape stays.
    static func decoded(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else { return text }
        let bytes = Array(text.utf8)
        var found: [UInt8] = []
        found.reserveCapacity(bytes.count)
        var at = 0
        while at < bytes.count {
            if bytes[at] == UInt8(ascii: "%"), at + 2 < bytes.count, let high = digit(bytes[at + 1]),
                let low = digit(bytes[at + 2])
            {
                found.append(high << 4 | low)
                at += 3
            } else {
                found.append(bytes[at] == UInt8(ascii: "+") ? UInt8(ascii: " ") : bytes[at])
                at += 1
            }
        }
        return String(decoding: found, as: UTF8.self)
    }

    /// The value of a hexadecimal digit.
    static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }
}
