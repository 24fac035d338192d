// feedbus: header fields in the order in which they were received or are to be sent.

/// HTTP header fields (RFC 9110, section 5): in order, names compared without case, a name may come more than once.
public struct HTTPHeaders: Sendable, Hashable {
    /// One field line.
    public struct Field: Sendable, Hashable {
        public var name: String
        public var value: String

        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    public private(set) var fields: [Field] = []

    public init() {}

    public init(_ fields: [Field]) { self.fields = fields }

    public var isEmpty: Bool { fields.isEmpty }

    /// The first value of a name. Setting replaces all of its values; nil removes the name.
    public subscript(name: String) -> String? {
        get {
            for index in fields.indices where equalNames(fields[index].name, name) { return fields[index].value }
            return nil
        }
        set {
            let place = fields.firstIndex { equalNames($0.name, name) }
            fields.removeAll { equalNames($0.name, name) }
            guard let newValue else { return }
            let field = Field(name: name, value: newValue)
            if let place { fields.insert(field, at: place) } else { fields.append(field) }
        }
    }

    /// Every value of a name, in order.
    public func all(_ name: String) -> [String] {
        fields.filter { equalNames($0.name, name) }.map(\.value)
    }

    /// Empty, with room for so many fields.
    init(capacity: Int) { fields.reserveCapacity(capacity) }

    /// Adds a field line behind the others.
    public mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// Lengthens the value of the last line: what an obsolete folded line asks for (RFC 9112, section 5.2).
    mutating func continueLast(with text: String) {
        guard let last = fields.indices.last else { return }
        fields[last].value += " " + text
    }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }
}

extension HTTPHeaders: Sequence {
    public func makeIterator() -> IndexingIterator<[Field]> { fields.makeIterator() }
}

/// ASCII case-insensitive, without making new strings.
func equalNames(_ a: some StringProtocol, _ b: some StringProtocol) -> Bool {
    let a = a.utf8
    let b = b.utf8
    // Most names differ in their length.
    guard a.count == b.count else { return false }
    var rest = b.makeIterator()
    for byte in a where lower(byte) != lower(rest.next()!) { return false }
    return true
}

private func lower(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
