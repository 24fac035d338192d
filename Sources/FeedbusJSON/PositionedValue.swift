// feedbus: JSON that remembers where each piece stood, for errors that point at it.

import FeedbusBase

/// A place in a file, as an editor counts: both from 1; the column in Unicode scalars.
public struct SourcePosition: Sendable, Hashable, Comparable {
    public var line: Int
    public var column: Int

    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    public static func < (left: SourcePosition, right: SourcePosition) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

/// One thing that is wrong with a config, at its place.
public struct ConfigProblem: Sendable, Hashable {
    public enum Severity: String, Sendable { case error, warning }

    public var severity: Severity
    public var position: SourcePosition
    /// A bounded name such as `unknown-option`.
    public var code: String
    /// Where in the structure: `sources.jokes.with`.
    public var path: String
    /// One sentence, without the position.
    public var message: String
    /// The name that was probably meant.
    public var suggestion: String?

    public init(
        _ message: String, at position: SourcePosition, code: String, path: String, suggestion: String? = nil,
        severity: Severity = .error
    ) {
        self.severity = severity
        self.position = position
        self.code = code
        self.path = path
        self.message = message
        self.suggestion = suggestion
    }
}

/// A JSON value with its position and its path from the root.
public struct PositionedValue: Sendable {
    public struct Member: Sendable {
        public var key: String
        public var keyPosition: SourcePosition
        public var value: PositionedValue

        public init(key: String, keyPosition: SourcePosition, value: PositionedValue) {
            self.key = key
            self.keyPosition = keyPosition
            self.value = value
        }
    }

    public indirect enum Content: Sendable {
        case null
        case bool(Bool)
        /// The number's own text.
        case number(String)
        case string(String)
        case array([PositionedValue])
        /// In the order of the file; keys are unique (a repeated key is a problem of the parser's and is left out).
        case object([Member])
    }

    public var content: Content
    public var position: SourcePosition
    /// `sources.jokes.with.every`; empty for the root. Array elements as `from[1]`.
    public var path: String

    public init(_ content: Content, at position: SourcePosition, path: String) {
        self.content = content
        self.position = position
        self.path = path
    }

    public subscript(key: String) -> PositionedValue? {
        guard case .object(let members) = content else { return nil }
        return members.first { $0.key == key }?.value
    }

    public var members: [Member]? {
        if case .object(let members) = content { members } else { nil }
    }

    public var elements: [PositionedValue]? {
        if case .array(let elements) = content { elements } else { nil }
    }

    public var string: String? {
        if case .string(let text) = content { text } else { nil }
    }

    /// What kind of value it is, for "expected a string, found a number".
    public var kindName: String {
        switch content {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "a list"
        case .object: "an object"
        }
    }

    /// A problem at this value.
    public func problem(_ message: String, code: String, suggestion: String? = nil) -> ConfigProblem {
        ConfigProblem(message, at: position, code: code, path: path, suggestion: suggestion)
    }
}
