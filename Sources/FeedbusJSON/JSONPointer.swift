// feedbus: RFC 6901, the path to a value in a JSON text.

import FeedbusBase

/// A JSON pointer (RFC 6901): `/actor/login`, `/payload/commits/0`; the empty text points at the whole.
public struct JSONPointer: Sendable, Hashable, CustomStringConvertible {
    /// The decoded reference tokens as UTF-8. Compared byte by byte: no Unicode normalisation.
    public let tokens: [Bytes]

    /// Nil where the text is no pointer: it neither is empty nor begins with `/`, or a `~` is followed by neither 0 nor 1.
    public init?(_ text: String) {
        guard text.isEmpty || text.utf8.first == UInt8(ascii: "/") else { return nil }
        var tokens: [Bytes] = []
        for part in text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst() {
            guard let token = JSONPointer.decode(part) else { return nil }
            tokens.append(Bytes(token))
        }
        self.tokens = tokens
    }

    /// A pointer of tokens that are not escaped.
    public init(tokens: [String]) {
        self.tokens = tokens.map { Bytes($0) }
    }

    public var description: String { tokens.map { "/" + JSONPointer.escaped($0.string) }.joined() }

    /// A reference token as it stands in a pointer's text.
    package static func escaped(_ token: String) -> String {
        var text = ""
        for scalar in token.unicodeScalars {
            switch scalar {
            case "~": text += "~0"
            case "/": text += "~1"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    private static func decode(_ part: Substring.UTF8View) -> [UInt8]? {
        var token: [UInt8] = []
        var isEscaped = false
        for byte in part {
            if isEscaped {
                switch byte {
                case UInt8(ascii: "0"): token.append(UInt8(ascii: "~"))
                case UInt8(ascii: "1"): token.append(UInt8(ascii: "/"))
                default: return nil
                }
                isEscaped = false
            } else if byte == UInt8(ascii: "~") {
                isEscaped = true
            } else {
                token.append(byte)
            }
        }
        return isEscaped ? nil : token
    }

    /// The token as an array index (RFC 6901 section 4): digits without a leading zero.
    static func arrayIndex(_ token: Bytes) -> Int? {
        guard !token.isEmpty, token.count == 1 || token[0] != UInt8(ascii: "0") else { return nil }
        return token.withUnsafeBytes { bytes in
            var index = 0
            for byte in bytes {
                guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte, index < Int.max / 20 else { return nil }
                index = index * 10 + Int(byte - UInt8(ascii: "0"))
            }
            return index
        }
    }
}
