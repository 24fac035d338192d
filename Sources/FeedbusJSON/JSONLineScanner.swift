// feedbus: checks a whole block of lines at once.

import CSimdJSON
import FeedbusBase

/// A line of a block that is not blank.
package struct JSONLine: Sendable {
    package enum Kind: Sendable {
        /// One JSON value.
        case value
        /// An object that may be a CloudEvents object.
        case maybeEvent
        /// Not one JSON value.
        case bad
    }

    /// The value in the text; of a bad line the whole line without its line feed.
    package let range: Range<Int>
    package let kind: Kind
    /// Line feeds before it in the text.
    package let number: Int
}

/// Finds and checks the lines of blocks of text, without copying or allocating for any of them.
///
/// It keeps its memory from block to block, and is for one thread at a time.
package final class JSONLineScanner {
    private let scanner: OpaquePointer
    private var lines: UnsafePointer<csimdjson_line>?
    /// Lines of the last block.
    package private(set) var count = 0
    /// Line feeds of the last block.
    package private(set) var lineFeeds = 0

    package init() {
        guard let scanner = csimdjson_lines_make() else { preconditionFailure("no memory") }
        self.scanner = scanner
    }

    deinit { csimdjson_lines_free(scanner) }

    /// Looks at every line of `text`, which must stay as it is until the next scan. Its last line may lack its line feed.
    /// - Throws: `JSONError` where there is no memory for so large a text.
    package func scan(_ text: UnsafeRawBufferPointer) throws(JSONError) {
        count = 0
        let status = csimdjson_lines_scan(
            scanner, text.baseAddress, text.count, UInt32(JSON.maximumDepth), &lines, &count, &lineFeeds)
        guard status == csimdjson_ok else {
            throw JSONError("no memory for \(text.count) bytes of lines", offset: 0)
        }
    }

    package subscript(index: Int) -> JSONLine {
        precondition(index >= 0 && index < count, "no such line")
        let line = lines![index]
        let kind: JSONLine.Kind =
            switch line.kind {
            case UInt16(csimdjson_line_value): .value
            case UInt16(csimdjson_line_maybe_event): .maybeEvent
            default: .bad
            }
        return JSONLine(range: Int(line.start)..<Int(line.end), kind: kind, number: Int(line.number))
    }

    /// Appends the places of the lines from `range`'s first on, up to one that is not simply a JSON value of at most
    /// `longest` bytes.
    /// - Parameters:
    ///   - offset: is added to the places.
    ///   - areFollowed: becomes false where no line feed stands right behind one of them.
    /// - Returns: the index behind the last that was appended.
    package func appendValues(
        of range: Range<Int>, offset: Int, longest: Int, to places: inout [TextPlace], _ areFollowed: inout Bool
    ) -> Int {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "no such lines")
        guard let lines, !range.isEmpty else { return range.lowerBound }
        var index = range.lowerBound
        var followed = UInt16(1)
        while index < range.upperBound {
            let line = lines[index]
            guard line.kind == UInt16(csimdjson_line_value), Int(line.end) - Int(line.start) <= longest else { break }
            places.append(TextPlace(offset + Int(line.start), offset + Int(line.end)))
            followed &= line.is_followed
            index += 1
        }
        if followed == 0 { areFollowed = false }
        return index
    }
}
