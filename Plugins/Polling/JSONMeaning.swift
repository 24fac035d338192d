// feedbus: what a JSON value says, however it is written.

public import FeedbusPlugin

extension JSONValue {
    /// One text for all ways of writing the value: keys in the order of their bytes, numbers without what does not count
    /// (`35.00`, `3.5e1` and `35`), strings without needless escapes. It is for comparing, not for passing on.
    ///
    /// Numbers are compared as text, digit by digit: any length and any exponent.
    public var meaning: Bytes {
        var writer = ByteWriter(capacity: raw.count)
        writeMeaning(to: &writer)
        return writer.finish()
    }

    private func writeMeaning(to writer: inout ByteWriter) {
        switch kind {
        case .object:
            // Where a key is repeated, the order counts.
            let sorted = members.enumerated().sorted { left, right in
                let (first, second) = (left.element.key.string, right.element.key.string)
                return first == second ? left.offset < right.offset : first.utf8.lexicographicallyPrecedes(second.utf8)
            }
            writer.append("{")
            for (index, member) in sorted.enumerated() {
                if index > 0 { writer.append(",") }
                writer.appendJSONString(member.element.key.string)
                writer.append(":")
                member.element.value.writeMeaning(to: &writer)
            }
            writer.append("}")
        case .array:
            writer.append("[")
            for (index, element) in elements.enumerated() {
                if index > 0 { writer.append(",") }
                element.writeMeaning(to: &writer)
            }
            writer.append("]")
        case .string: writer.appendJSONString(string ?? "")
        case .number: writer.append(Self.plainNumber(raw.string))
        default: writer.append(raw)
        }
    }

    /// `-12e-1`: the digits without zeros at either end, and the exponent that belongs to them; `0` for all zeros.
    private static func plainNumber(_ text: String) -> String {
        let parts = text.split(maxSplits: 1) { $0 == "e" || $0 == "E" }
        guard let first = parts.first else { return text }
        let isNegative = first.hasPrefix("-")
        let mantissa = (isNegative ? first.dropFirst() : first).split(separator: ".", maxSplits: 1)
        let fraction = mantissa.count == 2 ? mantissa[1] : ""
        var digits = (String(mantissa.first ?? "") + fraction)[...]
        digits = digits.drop { $0 == "0" }
        if digits.isEmpty { return "0" }
        var shift = -fraction.count
        while digits.last == "0" {
            digits.removeLast()
            shift += 1
        }
        var exponent = shift
        if parts.count == 2 {
            // An exponent beyond all measure is compared as it is written.
            guard let written = Int(parts[1]), abs(written) < 1 << 40 else { return text }
            exponent += written
        }
        return (isNegative ? "-" : "") + digits + (exponent == 0 ? "" : "e\(exponent)")
    }
}
