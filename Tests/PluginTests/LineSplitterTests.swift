// feedbus: lines come out the same wherever the reads cut them.

import FeedbusPlugin
import Lines
import Testing

struct LineSplitterTests {
    /// The lines of a text that is read in pieces.
    private func lines(_ pieces: [String], limit: Int = 1_000) -> [LineSplitter.Line] {
        var splitter = LineSplitter(limit: limit)
        var lines: [LineSplitter.Line] = []
        for piece in pieces { splitter.push(Bytes(piece)) { lines.append($0) } }
        splitter.finish { lines.append($0) }
        return lines
    }

    @Test func linesAreTheSameAtEverySplitPoint() {
        let text = "one\r\n\ntwo \u{2028} not two lines\n\r\nthrée\nlast"
        let expected: [LineSplitter.Line] = [
            .text(1, "one"), .text(2, ""), .text(3, "two \u{2028} not two lines"), .text(4, ""), .text(5, "thrée"),
            .text(6, "last"),
        ]
        let bytes = Array(text.utf8)
        for first in 0...bytes.count {
            for second in first...bytes.count {
                var splitter = LineSplitter(limit: 1_000)
                var lines: [LineSplitter.Line] = []
                for piece in [bytes[..<first], bytes[first..<second], bytes[second...]] {
                    splitter.push(Bytes(Array(piece))) { lines.append($0) }
                }
                splitter.finish { lines.append($0) }
                #expect(lines == expected, "split at \(first) and \(second)")
            }
        }
    }

    @Test func aFinalLineBreakMakesNoEmptyLine() {
        #expect(lines(["a\n"]) == [.text(1, "a")])
        #expect(lines([]) == [])
    }

    @Test(arguments: ["123456\nnext\n", "123456\r\nnext\n", "123456789\nnext"])
    func aLongLineIsRefusedAndTheRestGoesOn(text: String) {
        for size in 1...text.utf8.count {
            let bytes = Array(text.utf8)
            let pieces = stride(from: 0, to: bytes.count, by: size).map { start in
                String(decoding: bytes[start..<min(start + size, bytes.count)], as: UTF8.self)
            }
            let found = lines(pieces, limit: 5)
            #expect(found.count == 2)
            guard case .tooLong(1, let length) = found.first else {
                Issue.record("not refused in pieces of \(size)")
                continue
            }
            #expect(length >= 6)
            #expect(found.last == .text(2, "next"))
        }
    }

    @Test func aLineOfTheLimitPasses() {
        #expect(lines(["12345\r\n"], limit: 5) == [.text(1, "12345")])
        #expect(lines(["123", "45", "\n"], limit: 5) == [.text(1, "12345")])
    }
}
