// feedbus: changes to a JSON text that leave the rest byte for byte.

import FeedbusBase

/// Changes to a parsed text. What is not changed stays byte for byte: order, blanks, escapes, digits.
///
/// New values are JSON text and must be valid; they are put in as they are. Where a changed key is repeated in its
/// object, each of its places gets the new value, so that every reader sees it.
public enum JSONEdit {
    /// The object's text with these members: keys that it has are replaced in place, others come at its end, in order.
    ///
    /// `object` must be an object; another kind of value is returned as it is.
    public static func append(_ members: [(key: String, value: Bytes)], to object: JSONValue) -> Bytes {
        guard object.kind == .object else { return object.raw }
        var changes = TextChanges(of: object)
        var added: [(key: Bytes, value: Bytes)] = []
        for member in members {
            let key = Bytes(member.key)
            if changes.replace(key, of: object, with: member.value) { continue }
            if let index = added.firstIndex(where: { $0.key == key }) {
                added[index].value = member.value
            } else {
                added.append((key, member.value))
            }
        }
        changes.append(added, to: object)
        return changes.text()
    }

    /// The text of `root` with another value at a pointer: in place of the value there, or as a new last member of the
    /// object, or as a new last element of the array (index = count, or `-` as in RFC 6902).
    ///
    /// Nil where the object or array that should hold the value is missing.
    public static func set(_ pointer: JSONPointer, to value: Bytes, in root: JSONValue) -> Bytes? {
        guard let last = pointer.tokens.last else { return value }
        var parent = root
        for token in pointer.tokens.dropLast() {
            guard let next = parent.child(token) else { return nil }
            parent = next
        }
        var changes = TextChanges(of: root)
        switch parent.kind {
        case .object:
            if !changes.replace(last, of: parent, with: value) { changes.append([(last, value)], to: parent) }
        case .array:
            if let element = parent.child(last) {
                changes.replace(element, with: value)
            } else if last == "-" || JSONPointer.arrayIndex(last) == parent.count {
                changes.append(value, to: parent)
            } else {
                return nil
            }
        default: return nil
        }
        return changes.text()
    }
}

/// Pieces of a text and what comes in their place.
private struct TextChanges {
    private let root: JSONValue
    private var changes: [(range: Range<Int>, text: Bytes)] = []

    init(of root: JSONValue) { self.root = root }

    mutating func replace(_ value: JSONValue, with text: Bytes) {
        let range = value.document.range(value.index)
        changes.removeAll { $0.range == range }
        changes.append((range, text))
    }

    /// Replaces the value of each member with this key; false where there is none.
    mutating func replace(_ key: Bytes, of object: JSONValue, with text: Bytes) -> Bool {
        var isFound = false
        for member in object.members where member.key == key {
            replace(member.value, with: text)
            isFound = true
        }
        return isFound
    }

    mutating func append(_ members: [(key: Bytes, value: Bytes)], to object: JSONValue) {
        guard !members.isEmpty else { return }
        var writer = ByteWriter(capacity: members.reduce(16) { $0 + $1.key.count + $1.value.count + 8 })
        for (index, member) in members.enumerated() {
            if index > 0 || object.count > 0 { writer.append(UInt8(ascii: ",")) }
            writer.appendJSONString(member.key)
            writer.append(UInt8(ascii: ":"))
            writer.append(member.value)
        }
        insert(writer.finish(), at: object.document.endOfContent(object.index))
    }

    mutating func append(_ element: Bytes, to array: JSONValue) {
        var writer = ByteWriter(capacity: element.count + 1)
        if array.count > 0 { writer.append(UInt8(ascii: ",")) }
        writer.append(element)
        insert(writer.finish(), at: array.document.endOfContent(array.index))
    }

    private mutating func insert(_ text: Bytes, at offset: Int) { changes.append((offset..<offset, text)) }

    /// The text of the root with all changes.
    func text() -> Bytes {
        let text = root.document.text
        let whole = root.document.range(root.index)
        var writer = ByteWriter(capacity: changes.reduce(whole.count) { $0 + $1.text.count })
        var place = whole.lowerBound
        // At one place an insertion comes behind what is replaced in front of it.
        let inOrder = changes.sorted {
            ($0.range.lowerBound, $0.range.upperBound) < ($1.range.lowerBound, $1.range.upperBound)
        }
        for change in inOrder {
            writer.append(text[place..<change.range.lowerBound])
            writer.append(change.text)
            place = change.range.upperBound
        }
        writer.append(text[place..<whole.upperBound])
        return writer.finish()
    }
}
