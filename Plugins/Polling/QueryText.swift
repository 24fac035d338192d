// feedbus: the query of an address.

/// Writes queries (RFC 3986, section 3.4).
public enum QueryText {
    /// `a=b&c=d`. Letters, digits and `-._~` stay as they are, and what `keeping` names; the rest is percent-encoded.
    public static func make(
        _ items: some Sequence<(key: String, value: String)>, keeping others: String = ""
    ) -> String {
        items.map { "\(escaped($0.key, others))=\(escaped($0.value, others))" }.joined(separator: "&")
    }

    private static func escaped(_ text: String, _ others: String) -> String {
        let digits = Array("0123456789ABCDEF")
        var escaped = ""
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: escaped.append(Character(Unicode.Scalar(byte)))
            case _ where "-._~".utf8.contains(byte) || others.utf8.contains(byte):
                escaped.append(Character(Unicode.Scalar(byte)))
            default: escaped += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
            }
        }
        return escaped
    }
}
