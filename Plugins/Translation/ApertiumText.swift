// feedbus: plain text in Apertium's stream format, and back.

/// What `apertium-destxt` and `apertium-retxt` do, for one text at a time
/// (https://wiki.apertium.org/wiki/Apertium_stream_format).
enum ApertiumText {
    /// A text ready for the pipeline, without the white space around it: reserved characters escaped, white space other
    /// than single blanks as a superblank, and an end of sentence that `decoded` takes away again.
    static func encoded(_ text: String) -> String {
        var stream = ""
        var blanks = ""
        func flush() {
            if blanks.isEmpty { return }
            stream += blanks == " " ? blanks : "[\(blanks)]"
            blanks = ""
        }
        for scalar in trimmed(text).unicodeScalars {
            if isBlank(scalar) {
                blanks.unicodeScalars.append(scalar)
                continue
            }
            flush()
            switch scalar {
            case "\0": continue
            case "[", "]", "{", "}", "^", "$", "/", "\\", "@", "<", ">": stream += "\\"
            default: break
            }
            stream.unicodeScalars.append(scalar)
        }
        return stream + "." + end
    }

    /// Goes through the whole pipeline and stands at the end of every whole answer. Where one of the programs dies, those
    /// behind it write what they have and a NUL all the same.
    static let end = "[]"

    /// The text in what the pipeline gave. `original` is what was encoded: the white space around it comes back.
    static func decoded(_ stream: String, original: String) -> String {
        var text = String.UnicodeScalarView()
        var scalars = Array(stream.unicodeScalars)
        // The end of sentence that was added.
        if scalars.suffix(3).elementsEqual(".[]".unicodeScalars) { scalars.removeLast(3) }
        var index = 0
        var isBlank = false
        while index < scalars.count {
            switch scalars[index] {
            case "\\" where index + 1 < scalars.count:
                index += 1
                text.append(scalars[index])
            case "[" where !isBlank: isBlank = true
            case "]" where isBlank: isBlank = false
            default: text.append(scalars[index])
            }
            index += 1
        }
        let (before, after) = surroundings(original)
        return before + trimmed(String(text)) + after
    }

    /// The text without the marks of unknown words: a `*` right before a letter, at the beginning of a word.
    static func withoutMarks(_ text: String) -> String {
        guard text.contains("*") else { return text }
        var plain = ""
        var previous: Character = " "
        let characters = Array(text)
        for (index, character) in characters.enumerated() {
            let startsWord = !(previous.isLetter || previous.isNumber || previous == "*")
            let isMark =
                character == "*" && startsWord && index + 1 < characters.count && characters[index + 1].isLetter
            if !isMark { plain.append(character) }
            previous = character
        }
        return plain
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case " ", "\t", "\n", "\r": true
        default: false
        }
    }

    private static func trimmed(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard let first = scalars.firstIndex(where: { !isBlank($0) }),
            let last = scalars.lastIndex(where: { !isBlank($0) })
        else { return "" }
        return String(scalars[first...last])
    }

    private static func surroundings(_ text: String) -> (before: String, after: String) {
        let scalars = text.unicodeScalars
        guard let first = scalars.firstIndex(where: { !isBlank($0) }),
            let last = scalars.lastIndex(where: { !isBlank($0) })
        else { return (text, "") }
        return (String(scalars[..<first]), String(scalars[scalars.index(after: last)...]))
    }
}
