// feedbus: raw JSON text: check it, make it compact, repair it, quote it.

import FeedbusBase

/// What can be done with a whole JSON text.
public enum JSON {
    /// The deepest nesting of arrays and objects that is accepted.
    public static let maximumDepth = 1000

    public static func parse(_ text: Bytes) throws(JSONError) -> JSONValue { fatalError() }

    public static func validate(_ text: Bytes) throws(JSONError) { fatalError() }

    public static func minify(_ text: Bytes) throws(JSONError) -> Bytes { fatalError() }

    public static func repairUTF8(_ text: Bytes) -> (Bytes, repaired: Bool) { fatalError() }

    public static func quote(_ text: String) -> Bytes { fatalError() }
}

extension ByteWriter {
    public mutating func appendJSONString(_ text: Bytes) { fatalError() }

    public mutating func appendJSONString(_ text: String) { fatalError() }
}
