// feedbus: why a text is no JSON, and where.

import FeedbusBase

/// The first thing that is wrong with a text.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A few words without the place: `unexpected character "x"`.
    public var message: String
    /// The byte, from 0, at which the mistake stands; the text's length where the text ends too early.
    public var offset: Int

    public init(_ message: String, offset: Int) {
        self.message = message
        self.offset = offset
    }

    public var description: String { "\(message) at byte \(offset)" }

    /// The mistake's place in the text that was parsed, as an editor counts.
    public func position(in text: Bytes) -> SourcePosition {
        text.withUnsafeBytes { bytes in
            var tracker = PositionTracker()
            return tracker.position(of: min(offset, bytes.count), in: bytes)
        }
    }
}
