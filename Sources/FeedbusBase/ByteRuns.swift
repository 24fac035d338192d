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

    private var closed: [Run] = []
    /// The run that the next line may go on. Kept apart, as a block that goes through whole is nothing but this.
    private var open: Run?
    /// The bytes of all lines, line feeds included.
    public private(set) var count = 0

    private static let feed: ByteBuffer = ByteBuffer(capacity: 1) { target in
        target[0] = 0x0A
        return 1
    }

    public init() {}

    package var runs: [Run] { open.map { closed + [$0] } ?? closed }

    /// Adds a text that holds no line feed, and a line feed.
    public mutating func appendLine(_ text: Bytes) {
        appendLine(text, isFollowed: text.isFollowedByLineFeed)
    }

    /// As above, where it is known whether a line feed stands behind the text in its buffer.
    package mutating func appendLine(_ text: Bytes, isFollowed: Bool) {
        let (buffer, range) = (text.buffer, text.range)
        count += range.count + 1
        guard isFollowed else {
            close()
            if !range.isEmpty {
                closed.append(Run(buffer: buffer, start: range.lowerBound, end: range.upperBound, endsLine: false))
            }
            closed.append(Run(buffer: ByteRuns.feed, start: 0, end: 1, endsLine: true))
            return
        }
        if open?.end == range.lowerBound, open?.buffer === buffer {
            open?.end = range.upperBound + 1
        } else {
            close()
            open = Run(buffer: buffer, start: range.lowerBound, end: range.upperBound + 1, endsLine: true)
        }
    }

    private mutating func close() {
        guard let run = open else { return }
        closed.append(run)
        open = nil
    }

    /// All of it in one piece: a copy.
    public var joined: Bytes {
        var writer = ByteWriter(capacity: count)
        for run in runs { writer.append(Bytes(buffer: run.buffer, range: run.start..<run.end)) }
        return writer.finish()
    }
}
