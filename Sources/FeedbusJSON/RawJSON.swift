// feedbus: one JSON value as the bytes that somebody else keeps: its kind, and comparisons without conversion.

import CSimdJSON
public import FeedbusBase

/// The text of one valid JSON value, without blanks around it. Lives as long as the memory that it is about.
public struct RawJSON {
    public let text: UnsafeRawBufferPointer

    public init(_ text: UnsafeRawBufferPointer) { self.text = text }

    public var kind: JSONKind {
        switch text.first {
        case UInt8(ascii: "{"): .object
        case UInt8(ascii: "["): .array
        case UInt8(ascii: "\""): .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): .bool
        case UInt8(ascii: "n"): .null
        default: .number
        }
    }

    public var isTrue: Bool { text.first == UInt8(ascii: "t") }

    // MARK: - Strings

    /// The string, decoded: a copy. Nil for other kinds. Lone surrogates become U+FFFD.
    public var string: Bytes? { content.map { JSONText.decode(Bytes(copying: $0)) } }

    /// What stands between the quotes, with its escapes.
    private var content: UnsafeRawBufferPointer? {
        guard text.count >= 2, text[0] == UInt8(ascii: "\"") else { return nil }
        return UnsafeRawBufferPointer(rebasing: text[1..<text.count - 1])
    }

    /// What stands between the quotes of a string in which nothing is escaped.
    public var plainContent: UnsafeRawBufferPointer? {
        guard let content, !JSONText.hasEscape(content) else { return nil }
        return content
    }

    /// Compares a string, decoded, with UTF-8, byte by byte, which is the order of code points.
    /// - Returns: below, at or above zero; nil where this is no string.
    public func compareString(_ wanted: UnsafeRawBufferPointer) -> Int? {
        content.map { Int(csimdjson_compare_string($0.baseAddress, $0.count, wanted.baseAddress, wanted.count, false)) }
    }

    /// Whether this is a string that, decoded, equals UTF-8 text.
    public func equalsString(_ wanted: UnsafeRawBufferPointer) -> Bool {
        guard let content else { return false }
        // An escape is longer than what it stands for.
        if content.count < wanted.count { return false }
        if content.count == wanted.count {
            return csimdjson_equal(content.baseAddress, wanted.baseAddress, wanted.count)
                && !JSONText.hasEscape(content)
        }
        return JSONText.hasEscape(content)
            && csimdjson_compare_string(content.baseAddress, content.count, wanted.baseAddress, wanted.count, false)
                == 0
    }

    /// Whether this is a string that, decoded, begins with UTF-8 text.
    public func hasPrefix(_ wanted: UnsafeRawBufferPointer) -> Bool {
        guard let content else { return false }
        return csimdjson_compare_string(content.baseAddress, content.count, wanted.baseAddress, wanted.count, true) == 0
    }

    /// Whether this is a string that, decoded, has UTF-8 text in it. Allocates where something is escaped.
    public func containsString(_ wanted: UnsafeRawBufferPointer) -> Bool {
        guard let content else { return false }
        guard JSONText.hasEscape(content) else { return hasSubstring(content, wanted) }
        return JSONText.decode(content).withUnsafeBytes { hasSubstring($0, wanted) }
    }

    // MARK: - Numbers

    /// Compares two numbers by their exact values, whatever their length and however they are written: 1.0 equals 1e0.
    ///
    /// Exponents beyond 10^15 count as 10^15.
    /// - Returns: below, at or above zero; nil where one of them is no number.
    public func compareNumber(_ other: RawJSON) -> Int? {
        guard kind == .number, other.kind == .number else { return nil }
        return DecimalText(text).compare(with: DecimalText(other.text))
    }

    // MARK: - Identity

    /// Hands on bytes that are the same for equal values: strings decoded, numbers without what does not change their
    /// value. Arrays and objects are taken as they are written: blanks and the order of members count.
    public func hash(into update: (UnsafeRawBufferPointer) -> Void) {
        switch kind {
        case .string:
            if let plain = plainContent {
                withUnsafeBytes(of: UInt8(ascii: "\"")) { update($0) }
                update(plain)
            } else if let decoded = string {
                withUnsafeBytes(of: UInt8(ascii: "\"")) { update($0) }
                decoded.withUnsafeBytes { update($0) }
            }
        case .number: DecimalText(text).hash(into: update)
        default: update(text)
        }
    }
}

private func hasSubstring(_ text: UnsafeRawBufferPointer, _ wanted: UnsafeRawBufferPointer) -> Bool {
    csimdjson_has_substring(text.baseAddress, text.count, wanted.baseAddress, wanted.count)
}
