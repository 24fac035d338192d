// feedbus: the one shape of a public error.

/// What went wrong, in words that tell an operator what to do, and whether trying again can help.
public struct FeedbusError: Error, Sendable, CustomStringConvertible {
    /// A short, bounded name for metrics and tests. New codes may come with any version.
    public struct Code: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
        public let name: String
        public init(_ name: String) { self.name = name }
        public init(stringLiteral name: String) { self.name = name }
        public var description: String { name }
    }

    public var code: Code
    /// One sentence: what happened and where (URL without secrets, path), and what to do where that is not plain.
    public var message: String
    /// True where the same call may succeed later (time-out, 5xx, full disk).
    public var isRetriable: Bool
    public var cause: (any Error)?

    public init(_ code: Code, _ message: String, isRetriable: Bool = false, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.isRetriable = isRetriable
        self.cause = cause
    }

    public var description: String { message }
}

/// The sentence to show for any error.
public func describeError(_ error: any Error) -> String {
    if let error = error as? FeedbusError { return error.message }
    if error is CancellationError { return "cancelled" }
    return String(describing: error)
}
