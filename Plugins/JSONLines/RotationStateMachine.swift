// feedbus: when a file is full or its time is over.

import FeedbusPlugin

/// Decides when the next file begins, and how much of a batch still goes into this one.
struct RotationStateMachine {
    private let options: RotateOptions
    private var size = 0
    /// The period of the lines in the file; nil while it is empty.
    private var period: Int64?

    init(options: RotateOptions) { self.options = options }

    /// A file was opened.
    /// - Parameters:
    ///   - size: its bytes.
    ///   - lastWrite: when it was last written to.
    mutating func opened(size: Int, lastWrite: WallTime) {
        self.size = size
        period = size > 0 ? index(of: lastWrite) : nil
    }

    /// What to do with the text from `start` on, which stands at a line's beginning.
    enum Step: Equatable {
        /// Begin a new file first.
        case rotate
        /// Write up to here.
        case write(upTo: Int)
    }

    func next(_ text: LineText, from start: Int, now: WallTime) -> Step {
        if let period, let current = index(of: now), current > period { return .rotate }
        guard let limit = options.size, text.bytes.count - start > limit - size else {
            return .write(upTo: text.bytes.count)
        }
        // As many whole lines as fit; at least one into an empty file.
        let end = limit > size ? text.lineEnd(atOrBefore: min(start + limit - size, text.bytes.count)) : 0
        if end > start { return .write(upTo: end) }
        return size > 0 ? .rotate : .write(upTo: text.lineEnd(after: start))
    }

    /// So many bytes were added; negative where a torn line was taken back.
    mutating func wrote(_ count: Int, now: WallTime) {
        size += count
        if period == nil { period = index(of: now) }
    }

    /// How long the period of the lines in the file still lasts: zero or less when it is over, nil where there is nothing to
    /// wait for.
    func timeLeft(now: WallTime) -> Duration? {
        guard let period, let every = options.every else { return nil }
        let end = (period + 1) * max(1, every.components.seconds)
        return .seconds(end - now.seconds)
    }

    private func index(of time: WallTime) -> Int64? {
        guard let every = options.every else { return nil }
        return time.seconds / max(1, every.components.seconds)
    }
}
