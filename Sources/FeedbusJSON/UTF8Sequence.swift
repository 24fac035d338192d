// feedbus: one UTF-8 sequence (RFC 3629).

/// The well-formed byte sequences of Unicode 15, table 3-7.
enum UTF8Sequence {
    /// The length, 1 to 4, of the sequence at `offset`; nil where it is not well-formed.
    static func length(at offset: Int, in text: UnsafeRawBufferPointer) -> Int? {
        let first = text[offset]
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch first {
        case 0..<0x80: return 1
        case 0xC2...0xDF: length = 2
        case 0xE0: (length, second) = (3, 0xA0...0xBF)  // no overlong forms
        case 0xED: (length, second) = (3, 0x80...0x9F)  // no surrogates
        case 0xE1...0xEF: length = 3
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: length = 4
        case 0xF4: (length, second) = (4, 0x80...0x8F)  // up to U+10FFFF
        default: return nil
        }
        guard offset + length <= text.count, second ~= text[offset + 1] else { return nil }
        for place in offset + 2..<offset + length where !(0x80...0xBF ~= text[place]) { return nil }
        return length
    }
}
