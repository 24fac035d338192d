// feedbus: an event as a list of its fields, to compare and to name what differs.

import FeedbusBase
import FeedbusJSON
import FeedbusPlugin

/// Every leaf of an event's JSON with its pointer. The order of an object's members does not count; numbers are compared
/// by their digits, so that `1.0` is not `1`.
struct FlatEvent: Hashable {
    /// By pointer; each value is JSON text.
    private(set) var fields: [String: String] = [:]

    init(_ value: JSONValue) { add(value, "") }

    init(_ value: PositionedValue) { add(value, "") }

    /// Only what is to be compared.
    func compared(only: [String]?, ignore: [String]?) -> FlatEvent {
        var copy = self
        copy.fields = fields.filter { pointer, _ in
            func isIn(_ list: [String]) -> Bool { list.contains { pointer == $0 || pointer.hasPrefix($0 + "/") } }
            return (only.map(isIn) ?? true) && !(ignore.map(isIn) ?? false)
        }
        return copy
    }

    /// Whose events with the same name are the same event, changed.
    var name: String {
        [fields["/source"], fields["/id"]].compactMap(\.self).joined(separator: " ")
    }

    /// A few words for a list of events.
    var shown: String {
        let words = ["/id", "/type", "/feedbusnode", "/data/value", "/data/title", "/data/name"]
            .compactMap { fields[$0] }.map(Self.shortened)
        return words.isEmpty
            ? Self.shortened(
                fields.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
                    .joined(separator: ", ")) : words.joined(separator: " ")
    }

    /// The fields in which it is not as `expected`, as `/data/a: expected 1, found 2`.
    func differences(from expected: FlatEvent) -> [String] {
        Set(fields.keys).union(expected.fields.keys).sorted().compactMap { pointer in
            let (wanted, found) = (expected.fields[pointer], fields[pointer])
            guard wanted != found else { return nil }
            return
                "\(pointer): expected \(wanted.map(Self.shortened) ?? "nothing"), found \(found.map(Self.shortened) ?? "nothing")"
        }
    }

    private static func shortened(_ text: String) -> String {
        text.count > 80 ? text.prefix(77) + "…" : text
    }

    private mutating func add(_ value: JSONValue, _ pointer: String) {
        switch value.kind {
        case .object where value.count > 0:
            for member in value.members { add(member.value, pointer + "/" + JSONPointer.escaped(member.key.string)) }
        case .array where value.count > 0:
            for (index, element) in value.elements.enumerated() { add(element, "\(pointer)/\(index)") }
        case .string: fields[pointer] = value.string.map { jsonText($0) } ?? value.raw.string
        default: fields[pointer] = value.raw.string
        }
    }

    private mutating func add(_ value: PositionedValue, _ pointer: String) {
        switch value.content {
        case .object(let members):
            if members.isEmpty { fields[pointer] = "{}" }
            for member in members { add(member.value, pointer + "/" + JSONPointer.escaped(member.key)) }
        case .array(let elements):
            if elements.isEmpty { fields[pointer] = "[]" }
            for (index, element) in elements.enumerated() { add(element, "\(pointer)/\(index)") }
        case .string(let text): fields[pointer] = jsonText(text)
        case .number(let text): fields[pointer] = text
        case .bool(let flag): fields[pointer] = String(flag)
        case .null: fields[pointer] = "null"
        }
    }
}
