// feedbus: compact JSON text spread over lines.

import FeedbusPlugin

/// Indents minified JSON text and, where asked for, colours it. What is valid stays valid; every token stays as it is.
struct PrettyJSON {
    /// With SGR colours for keys, strings and other values.
    var isColored: Bool

    private enum Color: Int {
        case key = 34
        case string = 32
        case other = 36
    }

    func append(_ text: Bytes, to writer: inout ByteWriter) {
        text.withUnsafeBytes { append($0, to: &writer) }
    }

    private func append(_ text: UnsafeRawBufferPointer, to writer: inout ByteWriter) {
        // For each open bracket, whether it is an object.
        var open: [Bool] = []
        var expectsKey = false
        var at = 0
        while at < text.count {
            let byte = text[at]
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                writer.append(byte)
                if at + 1 < text.count, text[at + 1] == byte + 2 {
                    // An empty object or array: the closing bracket's code is the opening one's plus two.
                    writer.append(byte + 2)
                    at += 1
                } else {
                    open.append(byte == UInt8(ascii: "{"))
                    expectsKey = open.last!
                    newLine(open.count, &writer)
                }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                _ = open.popLast()
                newLine(open.count, &writer)
                writer.append(byte)
            case UInt8(ascii: ","):
                writer.append(byte)
                expectsKey = open.last ?? false
                newLine(open.count, &writer)
            case UInt8(ascii: ":"):
                writer.append(": " as StaticString)
                expectsKey = false
            default:
                let end = endOfToken(text, from: at)
                let color = byte == UInt8(ascii: "\"") ? (expectsKey ? Color.key : .string) : .other
                token(UnsafeRawBufferPointer(rebasing: text[at..<end]), color, &writer)
                at = end - 1
            }
            at += 1
        }
    }

    /// The end of a string, number or literal.
    private func endOfToken(_ text: UnsafeRawBufferPointer, from start: Int) -> Int {
        var at = start + 1
        if text[start] == UInt8(ascii: "\"") {
            while at < text.count, text[at] != UInt8(ascii: "\"") {
                at += text[at] == UInt8(ascii: "\\") ? 2 : 1
            }
            return min(at + 1, text.count)
        }
        while at < text.count, ![UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]")].contains(text[at]) { at += 1 }
        return at
    }

    private func token(_ text: UnsafeRawBufferPointer, _ color: Color, _ writer: inout ByteWriter) {
        if isColored { writer.append("\u{1B}[\(color.rawValue)m") }
        writer.append(text)
        if isColored { writer.append("\u{1B}[0m" as StaticString) }
    }

    private func newLine(_ depth: Int, _ writer: inout ByteWriter) {
        writer.append(UInt8(ascii: "\n"))
        for _ in 0..<depth { writer.append("  " as StaticString) }
    }
}
