// feedbus: a value in a parsed JSON text.

import CSimdJSON
import FeedbusBase

/// The six kinds of JSON values.
public enum JSONKind: String, Sendable, Hashable, CaseIterable {
    case null, bool, number, string, array, object
}

/// A value in a parsed text: a reference to its place. Copying it copies none of the text.
///
/// It keeps the whole text that it was parsed from in memory.
public struct JSONValue: Sendable, CustomStringConvertible {
    let document: JSONDocument
    let index: UInt32

    public var kind: JSONKind {
        switch document.firstByte(index) {
        case UInt8(ascii: "{"): .object
        case UInt8(ascii: "["): .array
        case UInt8(ascii: "\""): .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): .bool
        case UInt8(ascii: "n"): .null
        default: .number
        }
    }

    /// The value's text, byte for byte, without blanks around it.
    public var raw: Bytes { document.text[document.range(index)] }

    /// The value's text without the blanks between its tokens; a slice of the parsed text where there are none.
    public var minified: Bytes {
        document.isCompact || !document.isContainer(index) ? raw : JSON.removingBlanks(raw)
    }

    public var description: String { raw.string }

    public var isNull: Bool { kind == .null }

    public var bool: Bool? {
        switch document.firstByte(index) {
        case UInt8(ascii: "t"): true
        case UInt8(ascii: "f"): false
        default: nil
        }
    }

    /// The integer of a number that is written without fraction and exponent and fits.
    public var int: Int? {
        guard kind == .number else { return nil }
        return raw.withUnsafeBytes { text in
            var value = 0
            let isNegative = text[0] == UInt8(ascii: "-")
            for byte in text.dropFirst(isNegative ? 1 : 0) {
                let digit = Int(byte) - Int(UInt8(ascii: "0"))
                guard 0...9 ~= digit else { return nil }
                let (tens, tooLarge) = value.multipliedReportingOverflow(by: 10)
                let (sum, overflow) = tens.subtractingReportingOverflow(digit)  // downwards: Int.min has no opposite
                guard !tooLarge && !overflow else { return nil }
                value = sum
            }
            if isNegative { return value }
            return value == .min ? nil : -value
        }
    }

    /// The nearest double of a number; an infinity where the number is beyond the range, as IEEE 754 rounds.
    public var double: Double? { kind == .number ? Double(raw.string) : nil }

    /// The string, decoded; lone surrogates become U+FFFD. Nil for other kinds.
    public var string: String? { stringBytes?.string }

    /// The string, decoded as UTF-8: a slice of the parsed text where nothing is escaped. Nil for other kinds.
    public var stringBytes: Bytes? {
        guard kind == .string else { return nil }
        let content = document.content(index)
        return document.hasEscapes ? JSONText.decode(content) : content
    }

    /// The number of elements or members; 0 for other kinds. Takes constant time.
    public var count: Int { document.isContainer(index) ? document.count(index) : 0 }

    /// The elements of an array; nothing for other kinds.
    public var elements: JSONElements {
        JSONElements(document: document, range: kind == .array ? children : 0..<0)
    }

    /// The members of an object in the order of the text, repeated keys included; nothing for other kinds.
    public var members: JSONMembers {
        JSONMembers(document: document, range: kind == .object ? children : 0..<0)
    }

    /// The value of an object's key, compared byte by byte after decoding; the first where the key is repeated.
    public subscript(key: String) -> JSONValue? {
        var key = key
        return key.withUTF8 { member(UnsafeRawBufferPointer($0)) }
    }

    /// The value at a pointer (RFC 6901), or nil.
    public subscript(pointer: JSONPointer) -> JSONValue? {
        var value = self
        for token in pointer.tokens {
            guard let next = value.child(token) else { return nil }
            value = next
        }
        return value
    }

    /// The entries between the brackets.
    private var children: Range<UInt32> { index + 1..<document.tape[Int(index)].link - 1 }

    func child(_ token: Bytes) -> JSONValue? {
        switch kind {
        case .object: return token.withUnsafeBytes { member($0) }
        case .array:
            guard let wanted = JSONPointer.arrayIndex(token), wanted < count else { return nil }
            return elements.dropFirst(wanted).first { _ in true }
        default: return nil
        }
    }

    private func member(_ key: UnsafeRawBufferPointer) -> JSONValue? {
        guard kind == .object else { return nil }
        let children = children
        var place = children.lowerBound
        while place < children.upperBound {
            if document.isKey(place, key) { return JSONValue(document: document, index: place + 1) }
            place = document.following(place + 1)
        }
        return nil
    }
}

/// The elements of an array.
public struct JSONElements: Sequence, Sendable {
    let document: JSONDocument
    let range: Range<UInt32>

    public var underestimatedCount: Int { range.isEmpty ? 0 : document.count(range.lowerBound - 1) }

    public func makeIterator() -> Iterator {
        Iterator(document: document, place: range.lowerBound, end: range.upperBound)
    }

    public struct Iterator: IteratorProtocol, Sendable {
        let document: JSONDocument
        var place: UInt32
        let end: UInt32

        public mutating func next() -> JSONValue? {
            guard place < end else { return nil }
            defer { place = document.following(place) }
            return JSONValue(document: document, index: place)
        }
    }
}

/// The members of an object.
public struct JSONMembers: Sequence, Sendable {
    let document: JSONDocument
    let range: Range<UInt32>

    public var underestimatedCount: Int { range.isEmpty ? 0 : document.count(range.lowerBound - 1) }

    public func makeIterator() -> Iterator {
        Iterator(document: document, place: range.lowerBound, end: range.upperBound)
    }

    public struct Iterator: IteratorProtocol, Sendable {
        let document: JSONDocument
        var place: UInt32
        let end: UInt32

        /// The key is decoded: a slice of the parsed text where nothing is escaped.
        public mutating func next() -> (key: Bytes, value: JSONValue)? {
            guard place < end else { return nil }
            defer { place = document.following(place + 1) }
            let key = document.content(place)
            return (
                key: document.hasEscapes ? JSONText.decode(key) : key,
                value: JSONValue(document: document, index: place + 1)
            )
        }
    }
}
