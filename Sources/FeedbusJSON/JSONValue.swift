// feedbus: a value in a parsed JSON text.

import FeedbusBase

public enum JSONKind: String, Sendable, Hashable {
    case null, bool, number, string, array, object
}

public struct JSONValue: Sendable {
    public var kind: JSONKind { fatalError() }
    public var raw: Bytes { fatalError() }
    public var minified: Bytes { fatalError() }
    public var isNull: Bool { fatalError() }
    public var bool: Bool? { fatalError() }
    public var int: Int? { fatalError() }
    public var double: Double? { fatalError() }
    public var string: String? { fatalError() }
    public var stringBytes: Bytes? { fatalError() }
    public var count: Int { fatalError() }
    public var elements: [JSONValue] { fatalError() }
    public var members: [(key: Bytes, value: JSONValue)] { fatalError() }
    public subscript(key: String) -> JSONValue? { fatalError() }
    public subscript(pointer: JSONPointer) -> JSONValue? { fatalError() }
}
