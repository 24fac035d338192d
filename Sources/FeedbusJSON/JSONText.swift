// feedbus: the escapes of JSON strings, both ways.

import CSimdJSON
import FeedbusBase

/// Decoding of the content of JSON strings (RFC 8259 section 7).
enum JSONText {
    static let backslash = UInt8(ascii: "\\")
    static let quote = UInt8(ascii: "\"")

    /// The content of a checked string, decoded; the same slice where nothing is escaped.
    ///
    /// An escaped surrogate without its partner becomes U+FFFD.
    static func decode(_ content: Bytes) -> Bytes {
        content.withUnsafeBytes { raw in hasEscape(raw) ? decode(raw) : content }
    }

    static func hasEscape(_ raw: UnsafeRawBufferPointer) -> Bool {
        csimdjson_contains_backslash(raw.baseAddress, raw.count)
    }

    static func decode(_ raw: UnsafeRawBufferPointer) -> Bytes {
        var writer = ByteWriter(capacity: raw.count)
        var index = 0
        while index < raw.count {
            guard raw[index] == backslash else {
                let end = raw[index...].firstIndex(of: backslash) ?? raw.count
                writer.append(UnsafeRawBufferPointer(rebasing: raw[index..<end]))
                index = end
                continue
            }
            let kind = raw[index + 1]
            if kind == UInt8(ascii: "u") {
                writer.append(scalar(raw, &index))
            } else {
                writer.append(simpleEscape(kind)!)
                index += 2
            }
        }
        return writer.finish()
    }

    /// What `\` and this byte stand for; nil where there is no such escape (or it is `\u`).
    static func simpleEscape(_ kind: UInt8) -> UInt8? {
        switch kind {
        case quote, backslash, UInt8(ascii: "/"): kind
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    /// The scalar of the `\uXXXX` at `index`, or of the pair that begins there; moves `index` behind it.
    private static func scalar(_ raw: UnsafeRawBufferPointer, _ index: inout Int) -> Unicode.Scalar {
        let first = codeUnit(raw, at: index)!
        index += 6
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, let second = codeUnit(raw, at: index), 0xDC00...0xDFFF ~= second else {
            return "\u{FFFD}"
        }
        index += 6
        return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))!
    }

    /// The code unit of the `\uXXXX` at `index`; nil where there is none.
    static func codeUnit(_ raw: UnsafeRawBufferPointer, at index: Int) -> UInt32? {
        guard index + 6 <= raw.count, raw[index] == backslash, raw[index + 1] == UInt8(ascii: "u") else { return nil }
        var value: UInt32 = 0
        for offset in 2..<6 {
            guard let digit = hexDigit(raw[index + offset]) else { return nil }
            value = value << 4 | digit
        }
        return value
    }

    private static func hexDigit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }
}

extension ByteWriter {
    /// Appends a JSON string with its quotes. Invalid UTF-8 in `text` becomes U+FFFD; escaped is only what must be:
    /// quotation marks, backslashes and the control characters below U+0020.
    public mutating func appendJSONString(_ text: Bytes) {
        let text = JSON.repairUTF8(text).0
        text.withUnsafeBytes { appendQuoted($0) }
    }

    /// Appends a JSON string with its quotes.
    public mutating func appendJSONString(_ text: String) {
        var text = text
        text.withUTF8 { appendQuoted(UnsafeRawBufferPointer($0)) }
    }

    private mutating func appendQuoted(_ text: UnsafeRawBufferPointer) {
        append(JSONText.quote)
        var start = 0
        for index in text.indices {
            let byte = text[index]
            guard byte < 0x20 || byte == JSONText.quote || byte == JSONText.backslash else { continue }
            append(UnsafeRawBufferPointer(rebasing: text[start..<index]))
            start = index + 1
            appendEscaped(byte)
        }
        append(UnsafeRawBufferPointer(rebasing: text[start...]))
        append(JSONText.quote)
    }

    private mutating func appendEscaped(_ byte: UInt8) {
        append(JSONText.backslash)
        switch byte {
        case 0x08: append(UInt8(ascii: "b"))
        case 0x09: append(UInt8(ascii: "t"))
        case 0x0A: append(UInt8(ascii: "n"))
        case 0x0C: append(UInt8(ascii: "f"))
        case 0x0D: append(UInt8(ascii: "r"))
        case JSONText.quote, JSONText.backslash: append(byte)
        default:
            append(byte < 0x10 ? "u000" : "u001")
            let digit = byte & 0x0F
            append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }

    mutating func append(_ scalar: Unicode.Scalar) {
        for byte in UTF8.encode(scalar)! { append(byte) }
    }
}
