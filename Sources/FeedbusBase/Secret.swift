// feedbus: a value that must never be shown.

/// A token or key. It has no text of its own in logs, errors or dumps; only `reveal()` gives it away.
public struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let value: String

    public init(_ value: String) { self.value = value }

    /// The value itself, for the one place that must send it.
    public func reveal() -> String { value }

    public var description: String { "•••" }
    public var debugDescription: String { "•••" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
