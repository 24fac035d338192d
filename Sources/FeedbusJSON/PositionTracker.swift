// feedbus: from byte offsets to lines and columns.

import FeedbusBase

/// Counts lines and columns along a text; quick for offsets that mostly grow.
///
/// Lines end with a line feed. A column counts Unicode scalars; a byte order mark at the start counts as none.
struct PositionTracker {
    private var offset = 0
    private var line = 1
    private var column = 1

    mutating func position(of wanted: Int, in text: UnsafeRawBufferPointer) -> SourcePosition {
        if wanted < offset { self = PositionTracker() }
        if offset == 0 && wanted >= 3 && text.starts(with: [0xEF, 0xBB, 0xBF]) { offset = 3 }
        while offset < wanted {
            let byte = text[offset]
            offset += 1
            if byte == UInt8(ascii: "\n") {
                line += 1
                column = 1
            } else if offset == text.count || text[offset] & 0xC0 != 0x80 {
                column += 1
            }
        }
        return SourcePosition(line: line, column: column)
    }
}
