// feedbus: where a text stands in a buffer.

/// A stretch of a buffer, without a reference to it: many of them cost no counting.
package struct TextPlace: Sendable, Hashable {
    package var start: UInt32
    /// Behind the last byte.
    package var end: UInt32

    @inlinable
    package init(_ start: Int, _ end: Int) {
        self.start = UInt32(truncatingIfNeeded: start)
        self.end = UInt32(truncatingIfNeeded: end)
    }

    @inlinable package var count: Int { Int(end) - Int(start) }
    @inlinable package var range: Range<Int> { Int(start)..<Int(end) }
}
