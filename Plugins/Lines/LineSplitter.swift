// feedbus: cuts what a pipe gives into lines.

import FeedbusPlugin
import Glibc

/// Finds lines in a stream of bytes, wherever the reads cut it. A line within one read is a slice of it.
///
/// Lines end with `\n`, a `\r` before it is no part of the line; U+2028 and the like end none.
package struct LineSplitter {
    package enum Line: Equatable {
        /// Number (from 1) and content, without the line end.
        case text(Int, Bytes)
        /// A line longer than the limit: its number and length. Its content was not kept.
        case tooLong(Int, Int)
    }

    /// The longest line in bytes, without its end.
    package let limit: Int
    /// The beginning of a line whose end has not come: its pieces, and the bytes of it so far (also those not kept).
    private var pieces: [Bytes] = []
    private var length = 0
    private var number = 1

    package init(limit: Int) { self.limit = limit }

    /// Takes what was read, and gives each line that ends in it.
    package mutating func push(_ chunk: Bytes, _ each: (Line) throws -> Void) rethrows {
        var start = 0
        while start < chunk.count, let end = LineSplitter.lineFeed(in: chunk, from: start) {
            try finishLine(chunk[start..<end], each)
            start = end + 1
        }
        guard start < chunk.count else { return }
        length += chunk.count - start
        // One byte more may be the `\r` of the line's end.
        if length > limit + 1 { pieces.removeAll() } else { pieces.append(chunk[start..<chunk.count]) }
    }

    /// The stream has ended: what came without a line end is a line too.
    package mutating func finish(_ each: (Line) throws -> Void) rethrows {
        if length > 0 { try finishLine(Bytes(), each) }
    }

    private mutating func finishLine(_ rest: Bytes, _ each: (Line) throws -> Void) rethrows {
        let number = self.number
        let length = self.length + rest.count
        let pieces = self.pieces
        self.number += 1
        self.length = 0
        if !self.pieces.isEmpty { self.pieces.removeAll() }
        guard length <= limit + 1 else { return try each(.tooLong(number, length)) }
        var line = pieces.isEmpty ? rest : LineSplitter.joined(pieces, rest)
        if line.count > 0, line[line.count - 1] == UInt8(ascii: "\r") { line = line[0..<line.count - 1] }
        try each(line.count > limit ? .tooLong(number, length) : .text(number, line))
    }

    private static func joined(_ pieces: [Bytes], _ rest: Bytes) -> Bytes {
        var writer = ByteWriter(capacity: pieces.reduce(rest.count) { $0 + $1.count })
        for piece in pieces { writer.append(piece) }
        writer.append(rest)
        return writer.finish()
    }

    private static func lineFeed(in bytes: Bytes, from start: Int) -> Int? {
        bytes.withUnsafeBytes { text in
            guard let base = text.baseAddress, let found = memchr(base + start, 0x0A, text.count - start) else {
                return nil
            }
            return UnsafeRawPointer(found) - base
        }
    }
}
