// feedbus: the tokens of a config text: blanks, comments, strings, numbers and words.

import FeedbusBase

extension ConfigReader {
    /// Goes over blanks and comments, and over what only looks like them.
    mutating func skipBlanks(_ path: String) {
        while let byte {
            switch byte {
            case 0x20, 0x09, 0x0A, 0x0D: offset += 1
            case UInt8(ascii: "/"):
                switch offset + 1 < text.count ? text[offset + 1] : 0 {
                case UInt8(ascii: "/"): skipLine()
                case UInt8(ascii: "*"): skipComment(path)
                default: return
                }
            case UInt8(ascii: "#"):
                report("comments begin with // or /*, not with #", "bad-comment", path, at: offset)
                skipLine()
            case 0x0B, 0x0C, 0x80...:
                guard let name = oddBlank(at: offset) else { return }
                report("the character \(name) is no blank in JSON", "odd-blank", path, at: offset)
                while oddBlank(at: offset) == name { offset += UTF8Sequence.length(at: offset, in: text) ?? 1 }
            default: return
            }
        }
    }

    private mutating func skipLine() {
        while let byte, byte != UInt8(ascii: "\n") { offset += 1 }
    }

    private mutating func skipComment(_ path: String) {
        let start = offset
        offset += 2
        while offset + 1 < text.count {
            if text[offset] == UInt8(ascii: "*") && text[offset + 1] == UInt8(ascii: "/") {
                offset += 2
                return
            }
            offset += 1
        }
        report("unterminated comment: \"*/\" is missing", "unterminated-comment", path, at: start)
        stop()
    }

    /// The name of a blank that Unicode knows and JSON does not.
    private func oddBlank(at offset: Int) -> String? {
        guard let scalar = scalar(at: offset) else { return nil }
        let isOdd = scalar.properties.isWhitespace || ["\u{200B}", "\u{2060}", "\u{FEFF}"].contains(scalar)
        guard isOdd, !["\t", "\n", "\r", " "].contains(scalar) else { return nil }
        return name(scalar)
    }

    private func scalar(at offset: Int) -> Unicode.Scalar? {
        guard offset < text.count, let length = UTF8Sequence.length(at: offset, in: text) else { return nil }
        return String(decoding: text[offset..<offset + length], as: UTF8.self).unicodeScalars.first
    }

    private func name(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    /// What stands here, for "found …": the word or the character.
    func found(at offset: Int) -> String {
        guard offset < text.count else { return "the end of the file" }
        if isWordByte(at: offset) {
            var copy = self
            copy.offset = offset
            return shown(copy.word())
        }
        guard let scalar = scalar(at: offset) else { return "a byte that is no UTF-8" }
        if scalar == "\"" { return "a string" }
        return scalar.value < 0x20 || scalar.value == 0x7F ? name(scalar) : "\"\(scalar)\""
    }

    /// A word in quotes, on one line, shortened where it is long.
    func shown(_ word: String) -> String {
        var text = ""
        for scalar in word.unicodeScalars.prefix(40) {
            text.unicodeScalars.append(scalar.value < 0x20 || scalar.value == 0x7F ? "\u{FFFD}" : scalar)
        }
        return word.unicodeScalars.count > 40 ? "\"\(text)…\"" : "\"\(text)\""
    }

    /// Goes over characters that have no meaning here, as one mistake.
    mutating func readJunk(_ expected: String, _ path: String) {
        let isText = UTF8Sequence.length(at: offset, in: text) != nil
        if isText {
            report("expected \(expected), found \(found(at: offset))", "unexpected", path, at: offset)
        } else {
            report("invalid UTF-8: save the file as UTF-8", "invalid-utf8", path, at: offset)
        }
        forgivesComma = true
        repeat { offset += 1 } while offset < text.count && !isDelimiter(text[offset])
    }

    private func isDelimiter(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte < 0x80 && ",:{}[]\"'".utf8.contains(byte)
    }

    /// Whether a number, or a word without quotes, goes on here.
    func isWordByte(at offset: Int) -> Bool {
        guard offset < text.count else { return false }
        switch text[offset] {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): return true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return true
        case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "$"): return true
        default: return false
        }
    }

    mutating func word() -> String {
        let start = offset
        while isWordByte(at: offset) { offset += 1 }
        return String(decoding: text[start..<offset], as: UTF8.self)
    }

    /// Reads a number, `true`, `false`, `null`, or a word that should have been one of them or a string.
    mutating func readWord(_ path: String) -> PositionedValue.Content {
        let start = offset
        let word = word()
        switch word {
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "null": return .null
        default: break
        }
        if let first = word.utf8.first, "+-.0123456789".utf8.contains(first) { return number(word, path, at: start) }
        let meant = nearestName(to: word, in: ["true", "false", "null"])
        report(
            "unknown word \(shown(word)): strings stand in double quotes", "bare-word", path, at: start,
            suggestion: meant)
        switch meant {
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "null": return .null
        default: return .string(word)
        }
    }

    private mutating func number(_ word: String, _ path: String, at start: Int) -> PositionedValue.Content {
        guard let mistake = JSONDiagnosis.firstMistake(in: Bytes(word)) else { return .number(word) }
        if let repaired = repairedNumber(word) {
            report("invalid number \(shown(word))", "bad-number", path, at: start, suggestion: repaired)
            return .number(repaired)
        }
        // Perhaps a duration or size without its quotes: then the string is right.
        let reason =
            mistake.message.hasPrefix("expected the end") ? "with a unit it stands in double quotes" : mistake.message
        report("invalid number \(shown(word)): \(reason)", "bad-number", path, at: start)
        return .string(word)
    }

    /// The number without a leading plus or zeros, and with a digit on each side of its point.
    private func repairedNumber(_ word: String) -> String? {
        var digits = Substring(word)
        let sign = digits.hasPrefix("-") ? "-" : ""
        if digits.hasPrefix("-") || digits.hasPrefix("+") { digits.removeFirst() }
        while digits.hasPrefix("0"), digits.dropFirst().first?.isNumber == true { digits.removeFirst() }
        if digits.hasPrefix(".") { digits = "0" + digits }
        if digits.hasSuffix(".") { digits += "0" }
        let repaired = sign + digits
        return JSONDiagnosis.firstMistake(in: Bytes(repaired)) == nil ? repaired : nil
    }
}
