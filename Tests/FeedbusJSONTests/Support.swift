// feedbus: helpers of the JSON tests.

import FeedbusBase
import FeedbusJSON
import Testing

/// The first mistake of a text, or nil.
func mistake(in text: Bytes) -> JSONError? {
    do throws(JSONError) {
        _ = try JSON.parse(text)
        return nil
    } catch {
        return error
    }
}

/// The text without blanks around it.
func trimmed(_ text: Bytes) -> Bytes {
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }
    var range = 0..<text.count
    while let first = range.first, isBlank(text[first]) { range = range.dropFirst() }
    while let last = range.last, isBlank(text[last]) { range = range.dropLast() }
    return text[range]
}

/// Reads everything in a value once and checks that its parts agree with each other.
func walkAll(_ value: JSONValue) {
    _ = (value.int, value.double, value.bool, value.string)
    switch value.kind {
    case .array:
        var count = 0
        for element in value.elements {
            walkAll(element)
            count += 1
        }
        #expect(count == value.count)
    case .object:
        var count = 0
        for (key, member) in value.members {
            #expect(value[key.string] != nil)
            walkAll(member)
            count += 1
        }
        #expect(count == value.count)
    case .string: #expect(value.string != nil)
    case .number: #expect(value.double != nil)
    case .bool: #expect(value.bool != nil)
    case .null: #expect(value.isNull)
    }
}

/// A valid text, minified, is valid, says the same, and is not made smaller by a second time.
func checkMinified(_ text: Bytes) throws {
    let once = try JSON.minify(text)
    #expect(try JSON.minify(once) == once)
    #expect(try JSON.validate(once))
    #expect(try JSON.parse(text).minified == once)
    expectSame(try JSON.parse(text), try JSON.parse(once))
}

/// Two values that have the same structure and the same texts.
func expectSame(_ left: JSONValue, _ right: JSONValue) {
    guard left.kind == right.kind, left.count == right.count else {
        Issue.record("\(left) is not \(right)")
        return
    }
    switch left.kind {
    case .array: for (a, b) in zip(left.elements, right.elements) { expectSame(a, b) }
    case .object:
        for (a, b) in zip(left.members, right.members) {
            #expect(a.key == b.key)
            expectSame(a.value, b.value)
        }
    default: #expect(left.raw == right.raw)
    }
}
