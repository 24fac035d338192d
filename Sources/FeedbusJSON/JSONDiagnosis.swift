// feedbus: the first mistake of a text that is no JSON, in words.

import FeedbusBase

/// A second, plain reader of RFC 8259 that knows what it expected; for texts that the fast one has refused.
struct JSONDiagnosis {
    /// The first mistake in reading order; nil where the text is valid.
    static func firstMistake(in text: Bytes) -> JSONError? {
        text.withUnsafeBytes { bytes in
            var reader = JSONDiagnosis(text: bytes)
            do throws(JSONError) {
                try reader.readText()
                return nil
            } catch {
                return error
            }
        }
    }

    private let text: UnsafeRawBufferPointer
    private var offset = 0
    /// For each open container, whether it is an object.
    private var open: [Bool] = []

    private init(text: UnsafeRawBufferPointer) { self.text = text }

    private mutating func readText() throws(JSONError) {
        if text.starts(with: [0xEF, 0xBB, 0xBF]) {
            throw JSONError("byte order mark (BOM) before the text", offset: 0)
        }
        skipBlanks()
        guard offset < text.count else { throw JSONError("there is no value", offset: offset) }
        try readValue()
        // Here a value has just ended.
        while let isObject = open.last {
            skipBlanks()
            switch byte {
            case UInt8(ascii: ","):
                offset += 1
                skipBlanks()
                if isObject { try readKey(after: ",") }
                skipBlanks()
                try readValue()
            case closer(isObject):
                offset += 1
                open.removeLast()
            default: throw unexpected(isObject ? "\",\" or \"}\"" : "\",\" or \"]\"")
            }
        }
        skipBlanks()
        if offset < text.count { throw unexpected("the end of the text") }
    }

    /// Reads a value, or its beginning up to its first scalar or its end.
    private mutating func readValue() throws(JSONError) {
        while true {
            switch byte {
            case UInt8(ascii: "\""): return try readString()
            case UInt8(ascii: "t"): return try readWord("true")
            case UInt8(ascii: "f"): return try readWord("false")
            case UInt8(ascii: "n"): return try readWord("null")
            case UInt8(ascii: "-"): return try readNumber()
            case _ where isDigit: return try readNumber()
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                let isObject = byte == UInt8(ascii: "{")
                if open.count == JSON.maximumDepth {
                    throw JSONError("nested deeper than \(JSON.maximumDepth)", offset: offset)
                }
                open.append(isObject)
                offset += 1
                skipBlanks()
                if byte == closer(isObject) {
                    open.removeLast()
                    offset += 1
                    return
                }
                if isObject { try readKey(after: nil) }
                skipBlanks()
            default: throw unexpected("a value")
            }
        }
    }

    private mutating func readKey(after comma: String?) throws(JSONError) {
        guard byte == UInt8(ascii: "\"") else { throw unexpected(comma == nil ? "a key or \"}\"" : "a key") }
        try readString()
        skipBlanks()
        guard byte == UInt8(ascii: ":") else { throw unexpected("\":\"") }
        offset += 1
    }

    private mutating func readString() throws(JSONError) {
        let start = offset
        offset += 1
        while let byte {
            switch byte {
            case UInt8(ascii: "\""):
                offset += 1
                return
            case JSONText.backslash:
                let kind = offset + 1 < text.count ? text[offset + 1] : 0
                if JSONText.simpleEscape(kind) != nil {
                    offset += 2
                } else if JSONText.codeUnit(text, at: offset) != nil {
                    offset += 6
                } else {
                    throw JSONError("invalid escape in a string", offset: offset)
                }
            case 0..<0x20: throw JSONError("control character \(hex(byte)) in a string", offset: offset)
            case 0x20..<0x80: offset += 1
            default:
                guard let length = UTF8Sequence.length(at: offset, in: text) else { throw invalidUTF8 }
                offset += length
            }
        }
        throw JSONError("string that does not end", offset: start)
    }

    private mutating func readWord(_ word: StaticString) throws(JSONError) {
        for index in 0..<word.utf8CodeUnitCount {
            guard byte == word.utf8Start[index] else { throw unexpected("\"\(word)\"") }
            offset += 1
        }
    }

    private mutating func readNumber() throws(JSONError) {
        if byte == UInt8(ascii: "-") { offset += 1 }
        if byte == UInt8(ascii: "0") {
            offset += 1
            if isDigit { throw JSONError("number with a leading zero", offset: offset) }
        } else {
            try readDigits()
        }
        if byte == UInt8(ascii: ".") {
            offset += 1
            try readDigits()
        }
        if byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
            offset += 1
            if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { offset += 1 }
            try readDigits()
        }
    }

    private mutating func readDigits() throws(JSONError) {
        guard isDigit else { throw unexpected("a digit") }
        while isDigit { offset += 1 }
    }

    private func closer(_ isObject: Bool) -> UInt8 { isObject ? UInt8(ascii: "}") : UInt8(ascii: "]") }

    private var byte: UInt8? { offset < text.count ? text[offset] : nil }

    private var isDigit: Bool {
        guard let byte else { return false }
        return UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
    }

    private mutating func skipBlanks() {
        while let byte, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { offset += 1 }
    }

    private var invalidUTF8: JSONError { JSONError("invalid UTF-8", offset: offset) }

    private func unexpected(_ expected: String) -> JSONError {
        guard let byte else { return JSONError("unexpected end: expected \(expected)", offset: offset) }
        guard let length = UTF8Sequence.length(at: offset, in: text) else { return invalidUTF8 }
        let character = String(decoding: text[offset..<offset + length], as: UTF8.self)
        let name = byte < 0x20 || byte == 0x7F ? "control character \(hex(byte))" : "\"\(character)\""
        return JSONError("expected \(expected), found \(name)", offset: offset)
    }

    private func hex(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
