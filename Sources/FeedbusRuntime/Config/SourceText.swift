// feedbus: finds a place inside a string of the config file.

import FeedbusBase
import FeedbusJSON

/// The text of a config, to turn an index into a decoded string back into a column.
struct SourceText {
    let bytes: Bytes

    /// Where the scalar with this index of the decoded string stands in the file; `start` is the opening quote.
    func position(ofScalar index: Int, inStringAt start: SourcePosition) -> SourcePosition {
        guard start.line > 0, let line = line(start.line) else { return start }
        var at = start.column  // the scalar behind the quote, counted from 0
        for _ in 0..<index {
            guard at < line.count else { return start }
            if line[at] != "\\" {
                at += 1
            } else if at + 1 < line.count, line[at + 1] == "u" {
                let isHigh =
                    at + 3 < line.count && "dD".unicodeScalars.contains(line[at + 2])
                    && "89abAB".unicodeScalars.contains(line[at + 3])
                let isPair = isHigh && at + 7 < line.count && line[at + 6] == "\\" && line[at + 7] == "u"
                at += isPair ? 12 : 6
            } else {
                at += 2
            }
        }
        return SourcePosition(line: start.line, column: at + 1)
    }

    private func line(_ number: Int) -> [Unicode.Scalar]? {
        bytes.withUnsafeBytes { text in
            var start = 0
            for _ in 1..<number {
                guard let end = text[start...].firstIndex(of: UInt8(ascii: "\n")) else { return nil }
                start = end + 1
            }
            let end = text[start...].firstIndex(of: UInt8(ascii: "\n")) ?? text.count
            return Array(String(decoding: text[start..<end], as: UTF8.self).unicodeScalars)
        }
    }
}
