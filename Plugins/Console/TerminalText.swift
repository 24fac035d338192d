// feedbus: text that may be sent to a terminal, and how many columns it takes there.

import FeedbusPlugin

/// Makes text safe for one line of a terminal.
enum TerminalText {
    /// The text without control characters: what a service sent must not move the cursor, change colours or begin a
    /// new line. Each becomes a blank.
    static func oneLine(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        var safe = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { safe.append(isControl(scalar) ? " " : scalar) }
        return String(safe)
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        // C0, DEL and C1, the line and paragraph separators, and what turns the direction of writing.
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// The same JSON with such characters as escapes. In JSON text they can stand in strings only, and those of C0 only
    /// as escapes already.
    static func escaped(_ json: Bytes) -> Bytes {
        json.withUnsafeBytes { text in
            // DEL, and the first bytes of the characters in question.
            guard text.contains(where: { $0 == 0x7F || $0 == 0xC2 || $0 == 0xE2 }) else { return json }
            var writer = ByteWriter(capacity: text.count + 64)
            for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
                if isControl(scalar) {
                    let digits = String(scalar.value, radix: 16)
                    writer.append("\\u" + String(repeating: "0", count: 4 - digits.count) + digits)
                } else {
                    for byte in UTF8.encode(scalar)! { writer.append(byte) }
                }
            }
            return writer.finish()
        }
    }

    /// The columns that a character takes: 2 for wide ones (East Asian, emoji), else 1; nothing for a lone mark.
    static func width(_ character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        if first.value < 0x300 { return 1 }
        let properties = first.properties
        if properties.isEmojiPresentation || character.unicodeScalars.contains("\u{FE0F}") { return 2 }
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        switch first.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }

    /// As much of the text as fits into `columns`, the last of them an ellipsis where something was cut off.
    /// - Returns: the text and the columns that it takes.
    static func fit(_ text: String, columns: Int) -> (text: String, width: Int) {
        var used = 0
        // Where the text ends if it has to be cut: one column is kept for the ellipsis.
        var cut = text.startIndex
        var cutWidth = 0
        for index in text.indices {
            let width = width(text[index])
            if used + width > columns {
                return columns > 0 ? (text[..<cut] + "…", cutWidth + 1) : ("", 0)
            }
            used += width
            if used <= columns - 1 {
                cut = text.index(after: index)
                cutWidth = used
            }
        }
        return (text, used)
    }
}
