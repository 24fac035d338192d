// feedbus: lines that are written one behind the other, from where they stand.

/// Lines of text as slices of the buffers that hold them: no byte of them is copied.
///
/// A line that is followed by its line feed in its buffer is one slice with it, and lines that stand one behind the other
/// are one slice together: what was read as a block, and goes on whole, is written as a block.
public struct ByteRuns: Sendable {
    /// A stretch of a buffer; it ends a line unless its line feed is the run behind it.
    package struct Run: Sendable {
        package fileprivate(set) var place: TextPlace
        /// The number of its buffer among `buffers`: references are counted once for a buffer, and not for each run.
        package let buffer: UInt32
        package let endsLine: Bool
    }

    package private(set) var buffers: [ByteBuffer] = []
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

    package func base(of run: Run) -> UnsafeMutableRawPointer { buffers[Int(run.buffer)].base + Int(run.place.start) }

    /// Adds a text that holds no line feed, and a line feed.
    public mutating func appendLine(_ text: Bytes) {
        appendLine(text, isFollowed: text.isFollowedByLineFeed)
    }

    /// As above, where it is known whether a line feed stands behind the text in its buffer.
    package mutating func appendLine(_ text: Bytes, isFollowed: Bool) {
        let (buffer, range) = (text.buffer, text.range)
        guard isFollowed else {
            count += range.count + 1
            close()
            if !range.isEmpty {
                closed.append(
                    Run(
                        place: TextPlace(range.lowerBound, range.upperBound), buffer: number(of: buffer),
                        endsLine: false))
            }
            closed.append(Run(place: TextPlace(0, 1), buffer: number(of: ByteRuns.feed), endsLine: true))
            return
        }
        append(TextPlace(range.lowerBound, range.upperBound), number(of: buffer))
    }

    /// Adds texts of one buffer, each of which is followed there by a line feed and holds none.
    package mutating func appendLines(_ places: UnsafeBufferPointer<TextPlace>, of buffer: ByteBuffer) {
        guard !places.isEmpty else { return }
        let number = number(of: buffer)
        for place in places {
            // At the first gap: there may be one behind each of the others, and to grow step by step costs an allocation
            // a step. Lines that stand one behind the other need no list at all.
            if let run = open, closed.isEmpty, run.place.end != place.start || run.buffer != number {
                closed.reserveCapacity(places.count + 1)
            }
            append(place, number)
        }
    }

    /// All lines are there: where they are several runs, `runs` need not be made of two parts any more.
    package mutating func finish() { if !closed.isEmpty { close() } }

    @inline(__always)
    private mutating func append(_ place: TextPlace, _ buffer: UInt32) {
        count += place.count + 1
        if let run = open, run.place.end == place.start, run.buffer == buffer {
            open = Run(place: TextPlace(Int(run.place.start), Int(place.end) + 1), buffer: buffer, endsLine: true)
        } else {
            close()
            open = Run(place: TextPlace(Int(place.start), Int(place.end) + 1), buffer: buffer, endsLine: true)
        }
    }

    private mutating func number(of buffer: ByteBuffer) -> UInt32 {
        // One of the last: the text's, or that of the line feeds behind them.
        for back in 1...2 where buffers.count >= back && buffers[buffers.count - back] === buffer {
            return UInt32(buffers.count - back)
        }
        buffers.append(buffer)
        return UInt32(buffers.count - 1)
    }

    private mutating func close() {
        guard let run = open else { return }
        closed.append(run)
        open = nil
    }

    /// All of it in one piece: a copy.
    public var joined: Bytes {
        var writer = ByteWriter(capacity: count)
        for run in runs { writer.append(UnsafeRawBufferPointer(start: base(of: run), count: run.place.count)) }
        return writer.finish()
    }
}
