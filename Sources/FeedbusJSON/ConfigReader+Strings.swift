// feedbus: the strings of a config text.

import FeedbusBase

extension ConfigReader {
    /// Reads the string that begins here, with its quotes; decodes it as far as it is right.
    mutating func readString(_ path: String) -> String {
        let start = offset
        let terminator = text[offset]
        if terminator != JSONText.quote {
            report("strings stand in double quotes, not in single ones", "single-quotes", path, at: start)
        }
        offset += 1
        var content: [UInt8] = []
        while let byte {
            switch byte {
            case terminator:
                offset += 1
                return String(decoding: content, as: UTF8.self)
            case UInt8(ascii: "\n"):
                endAtLine(&content, start, path)
                return String(decoding: content, as: UTF8.self)
            case JSONText.backslash: readEscape(into: &content, path)
            case 0..<0x20: readControlCharacters(into: &content, path)
            case 0x20..<0x80:
                content.append(byte)
                offset += 1
            default: readSequence(into: &content, path)
            }
        }
        endAtLine(&content, start, path)
        return String(decoding: content, as: UTF8.self)
    }

    /// The closing quote is missing: a string never goes over the end of its line. Commas and closing brackets at the end
    /// of the line were hardly meant to be in it.
    private mutating func endAtLine(_ content: inout [UInt8], _ start: Int, _ path: String) {
        report("unterminated string: the closing quote is missing on this line", "unterminated-string", path, at: start)
        guard !isStopped else { return }
        var end = content.count
        while end > 0, ", \t\r}]".utf8.contains(content[end - 1]),
            content[end - 1] == text[offset - (content.count - end) - 1]
        {
            end -= 1
        }
        offset -= content.count - end
        content.removeSubrange(end...)
        forgivesComma = true
    }

    private mutating func readEscape(into content: inout [UInt8], _ path: String) {
        let kind = offset + 1 < text.count ? text[offset + 1] : 0x0A
        if let byte = JSONText.simpleEscape(kind) {
            content.append(byte)
            offset += 2
        } else if JSONText.codeUnit(text, at: offset) != nil {
            // A pair of surrogates is one character, so escapes that follow each other are decoded together.
            let start = offset
            while JSONText.codeUnit(text, at: offset) != nil { offset += 6 }
            JSONText.decode(UnsafeRawBufferPointer(rebasing: text[start..<offset])).withUnsafeBytes { content += $0 }
        } else {
            let end = offset + 1 + (kind < 0x20 ? 0 : UTF8Sequence.length(at: offset + 1, in: text) ?? 0)
            let escape = String(decoding: text[offset..<end], as: UTF8.self)
            let hint = kind == UInt8(ascii: "u") ? "four hexadecimal digits must follow" : "a backslash itself is \\\\"
            let start = offset
            offset = end
            content += text[start..<end]
            report("invalid escape \(escape) in a string: \(hint)", "bad-escape", path, at: start)
        }
    }

    private mutating func readControlCharacters(into content: inout [UInt8], _ path: String) {
        // A carriage return in front of a line feed belongs to the line's end.
        if text[offset] == 0x0D && offset + 1 < text.count && text[offset + 1] == 0x0A {
            content.append(0x0D)
            offset += 1
            return
        }
        report(
            "control character \(found(at: offset)) in a string: write it as an escape", "control-character", path,
            at: offset)
        var next = byte
        while let control = next, control < 0x20, control != 0x0A {
            content.append(control)
            offset += 1
            next = byte == 0x0D ? nil : byte
        }
    }

    private mutating func readSequence(into content: inout [UInt8], _ path: String) {
        if let length = UTF8Sequence.length(at: offset, in: text) {
            content += text[offset..<offset + length]
            offset += length
            return
        }
        report("invalid UTF-8 in a string: save the file as UTF-8", "invalid-utf8", path, at: offset)
        while offset < text.count, text[offset] >= 0x80, UTF8Sequence.length(at: offset, in: text) == nil {
            offset += 1
        }
        content += "\u{FFFD}".utf8
    }
}
