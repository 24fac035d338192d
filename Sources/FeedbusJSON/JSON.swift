// feedbus: raw JSON text: check it, make it compact, repair it, quote it.

import CSimdJSON
import FeedbusBase

/// What can be done with a whole JSON text.
///
/// Accepted is what RFC 8259 allows, and nothing else: numbers of any length and exponent, lone surrogate escapes and
/// repeated keys pass. Numbers are never converted, so nothing is lost. The text must be UTF-8 without a byte order
/// mark, at most 4 GiB long, and at most `maximumDepth` arrays and objects deep.
public enum JSON {
    /// The deepest nesting of arrays and objects that is accepted; RFC 8259 section 9 leaves the limit to the reader.
    public static let maximumDepth = 1000

    /// Checks a text that is one value, with or without blanks around it, and makes its parts accessible.
    ///
    /// The value keeps `text`'s buffer alive and copies none of it.
    public static func parse(_ text: Bytes) throws(JSONError) -> JSONValue {
        let result = try scan(text, wantTape: true)
        return JSONValue(document: JSONDocument(text: text, tape: result), index: 0)
    }

    /// Checks as `parse` does, but keeps nothing and allocates nothing.
    /// - Returns: true where the text is minified already.
    @discardableResult
    public static func validate(_ text: Bytes) throws(JSONError) -> Bool {
        try scan(text, wantTape: false).is_compact
    }

    /// The text without the blanks around its tokens; everything else stays byte for byte.
    ///
    /// The same slice where there is nothing to remove.
    public static func minify(_ text: Bytes) throws(JSONError) -> Bytes {
        try validate(text) ? text : removingBlanks(text)
    }

    /// The text with each invalid UTF-8 sequence replaced by U+FFFD (one for each maximal subpart, as Unicode 15
    /// section 3.9 recommends). The same slice where nothing is invalid.
    public static func repairUTF8(_ text: Bytes) -> (Bytes, repaired: Bool) {
        isUTF8(text) ? (text, repaired: false) : (Bytes(text.string), repaired: true)
    }

    /// A string as JSON text, with its quotes; escaped is only what must be.
    public static func quote(_ text: String) -> Bytes {
        var writer = ByteWriter(capacity: text.utf8.count + 16)
        writer.appendJSONString(text)
        return writer.finish()
    }

    private static func scan(_ text: Bytes, wantTape: Bool) throws(JSONError) -> csimdjson_result {
        let result = text.withUnsafeBytes { bytes in
            csimdjson_parse(bytes.baseAddress, bytes.count, UInt32(maximumDepth), wantTape)
        }
        guard result.status == csimdjson_ok else { throw explain(result, text) }
        return result
    }

    /// The fast scan only knows that something is wrong; the words and the place of the first mistake are found here.
    private static func explain(_ result: csimdjson_result, _ text: Bytes) -> JSONError {
        switch result.status {
        case csimdjson_too_large: JSONError("text of 4 GiB or more", offset: 0)
        case csimdjson_no_memory: JSONError("no memory for a text of \(text.count) bytes", offset: 0)
        default:
            JSONDiagnosis.firstMistake(in: text) ?? JSONError("invalid JSON", offset: result.offset)
        }
    }

    static func isUTF8(_ text: Bytes) -> Bool {
        text.withUnsafeBytes { csimdjson_validate_utf8($0.baseAddress, $0.count) }
    }

    /// `minify` for a text that is known to be valid.
    static func removingBlanks(_ text: Bytes) -> Bytes {
        let buffer = ByteBuffer(capacity: text.count + ByteBuffer.padding) { target in
            text.withUnsafeBytes { csimdjson_minify($0.baseAddress, $0.count, target.baseAddress) }
        }
        return buffer.count == text.count ? text : Bytes(buffer: buffer)
    }
}
