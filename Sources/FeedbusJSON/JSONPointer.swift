// feedbus: RFC 6901, the path to a value in a JSON text.

import FeedbusBase

public struct JSONPointer: Sendable, Hashable, CustomStringConvertible {
    public let tokens: [Bytes]
    public init?(_ text: String) { fatalError() }
    public var description: String { fatalError() }
}
