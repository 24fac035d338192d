// feedbus: changes to a JSON text that leave the rest byte for byte.

import FeedbusBase

public enum JSONEdit {
    public static func append(_ members: [(key: String, value: Bytes)], to object: JSONValue) -> Bytes { fatalError() }

    public static func set(_ pointer: JSONPointer, to value: Bytes, in root: JSONValue) -> Bytes? { fatalError() }
}
