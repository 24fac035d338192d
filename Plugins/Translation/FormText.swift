// feedbus: values of a web form.

/// `application/x-www-form-urlencoded`.
enum FormText {
    /// A value, with everything but letters, digits and `-._~` as `%XX` of its UTF-8.
    static func encoded(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += digits.utf8.count < 2 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return encoded
    }
}
