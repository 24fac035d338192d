// feedbus: what can be saved of a text that nests too deeply in some of its parts.

import FeedbusBase

extension JSON {
    /// The text with `null` in the place of each list element that nests deeper than `maximumDepth` allows; nil where
    /// there is none, or where what is too deep is not part of a list.
    ///
    /// So one monstrous item does not take all others of its list with it. Elements of the outermost lists are meant:
    /// of the text itself, or of its members. The result is not checked: `parse` does that.
    public static func withoutDeepElements(_ text: Bytes) -> Bytes? {
        let deep = text.withUnsafeBytes { DeepElements.find(in: $0) }
        guard let deep, !deep.isEmpty else { return nil }
        var writer = ByteWriter(capacity: text.count)
        var kept = 0
        for element in deep {
            writer.append(text[kept..<element.lowerBound])
            writer.append("null" as StaticString)
            kept = element.upperBound
        }
        writer.append(text[kept..<text.count])
        return writer.finish()
    }
}

private enum DeepElements {
    /// Where they stand; nil where something else is too deep. Strings and brackets are told apart, no more.
    static func find(in text: UnsafeRawBufferPointer) -> [Range<Int>]? {
        var found: [Range<Int>] = []
        var depth = 0
        /// The depth inside the outermost list that is open; 0 for none.
        var listDepth = 0
        var elementStart = 0
        var isDeep = false
        var at = 0
        while at < text.count {
            let byte = text[at]
            switch byte {
            case UInt8(ascii: "\""):
                at += 1
                while at < text.count, text[at] != UInt8(ascii: "\"") { at += text[at] == UInt8(ascii: "\\") ? 2 : 1 }
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
                if listDepth == 0 && byte == UInt8(ascii: "[") {
                    listDepth = depth
                    elementStart = at + 1
                }
                if depth > JSON.maximumDepth {
                    guard listDepth > 0, listDepth < depth else { return nil }
                    isDeep = true
                }
            case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"):
                if depth == listDepth && depth > 0 {
                    if isDeep { found.append(elementStart..<at) }
                    isDeep = false
                    elementStart = at + 1
                }
                guard byte != UInt8(ascii: ",") else { break }
                if depth == listDepth { listDepth = 0 }
                depth -= 1
            default: break
            }
            at += 1
        }
        return found
    }
}
