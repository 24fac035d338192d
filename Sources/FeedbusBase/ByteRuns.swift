// feedbus: lines that are written one behind the other, from where they stand.

/// Lines of text as slices of the buffers that hold them: no byte of them is copied.
///
/// A line that is followed by its line feed in its buffer is one slice with it, and lines that stand one behind the other
/// are one slice together: what was read as a block, and goes on whole, is written as a block.
public struct ByteRuns: Sendable {
    /// A stretch of a buffer; it ends a line unless its line feed is the run behind it.
    package struct Run: Sendable {
        package let buffer: ByteBuffer
        package let start: Int
        package fileprivate(set) var end: Int
        package let endsLine: Bool
    }

    package private(set) var runs: [Run] = []
    /// The bytes of all lines, line feeds included.
    public private(set) var count = 0

    private static let feed: ByteBuffer = ByteBuffer(capacity: 1) { target in
        target[0] = 0x0A
        return 1
    }

    public init() {}

    /// Adds a text that holds no line feed, and a line feed.
    public mutating func appendLine(_ text: Bytes) {
        let (buffer, range) = (text.buffer, text.range)
        count += range.count + 1
        guard range.upperBound < buffer.count,
            buffer.base.load(fromByteOffset: range.upperBound, as: UInt8.self) == 0x0A
        else {
            if !range.isEmpty {
                runs.append(Run(buffer: buffer, start: range.lowerBound, end: range.upperBound, endsLine: false))
            }
            runs.append(Run(buffer: ByteRuns.feed, start: 0, end: 1, endsLine: true))
            return
        }
        let last = runs.count - 1
        if last >= 0, runs[last].end == range.lowerBound, runs[last].buffer === buffer, runs[last].endsLine {
            runs[last].end = range.upperBound + 1
        } else {
            runs.append(Run(buffer: buffer, start: range.lowerBound, end: range.upperBound + 1, endsLine: true))
        }
    }

    /// All of it in one piece: a copy.
    public var joined: Bytes {
        var writer = ByteWriter(capacity: count)
        for run in runs { writer.append(Bytes(buffer: run.buffer, range: run.start..<run.end)) }
        return writer.finish()
    }
}
