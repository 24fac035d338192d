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
    /// - Parameter position: the place of the text, which counts for the ids.
    /// - Throws: `JSONError` where there is no memory for so large a text.
    package func scan(_ text: UnsafeRawBufferPointer, position: Int = 0) throws(JSONError) {
        count = 0
        let status = csimdjson_lines_scan(
            scanner, text.baseAddress, text.count, UInt32(JSON.maximumDepth),
            UInt64(truncatingIfNeeded: position), &lines, &count, &lineFeeds)
        guard status == csimdjson_ok else {
            throw JSONError("no memory for \(text.count) bytes of lines", offset: 0)
        }
    }

    package subscript(index: Int) -> JSONLine {
        precondition(index >= 0 && index < count, "no such line")
        let line = lines![index]
        let kind: JSONLine.Kind =
            switch line.kind {
            case UInt32(csimdjson_line_value): .value
            case UInt32(csimdjson_line_maybe_event): .maybeEvent
            default: .bad
            }
        return JSONLine(range: Int(line.start)..<Int(line.end), kind: kind, number: Int(line.number))
    }

    /// The ids of so many lines: 16 hexadecimal digits for each, the hash of its value and its place.
    package func ids(of range: Range<Int>) -> ByteBuffer {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "no such lines")
        return ByteBuffer(capacity: 16 * range.count) { target in
            if !range.isEmpty { csimdjson_write_ids(lines! + range.lowerBound, range.count, target.baseAddress) }
            return 16 * range.count
        }
    }
}
