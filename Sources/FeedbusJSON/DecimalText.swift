// feedbus: a JSON number as the decimal that it is, whatever its length.

/// A number of RFC 8259's grammar, read without a conversion: sign, first digit that counts, and its power of ten.
///
/// Memory that somebody else owns.
struct DecimalText {
    private let text: UnsafeRawBufferPointer
    private let isNegative: Bool
    /// Where the first digit stands that is not zero; the end of the digits for zero.
    private let first: Int
    /// Behind the last digit.
    private let end: Int
    /// The power of ten of the first digit that is not zero.
    private let magnitude: Int

    /// Larger ones are taken for this one.
    private static let largestExponent = 1_000_000_000_000_000

    init(_ text: UnsafeRawBufferPointer) {
        self.text = text
        isNegative = text.first == UInt8(ascii: "-")
        var place = isNegative ? 1 : 0
        var first: Int?
        // Digits before the point, and those from the point to the first that counts.
        var whole = 0
        var leading = 0
        var isFraction = false
        while place < text.count {
            let byte = text[place]
            if byte == UInt8(ascii: ".") {
                isFraction = true
            } else if UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte {
                if first == nil, byte != UInt8(ascii: "0") { first = place }
                if !isFraction {
                    if first != nil { whole += 1 }
                } else if first == nil {
                    leading += 1
                }
            } else {
                break
            }
            place += 1
        }
        end = place
        self.first = first ?? place
        magnitude = (whole > 0 ? whole - 1 : -leading - 1) + DecimalText.exponent(text, from: place)
    }

    private static func exponent(_ text: UnsafeRawBufferPointer, from place: Int) -> Int {
        var place = place + 1
        guard place < text.count else { return 0 }
        let isNegative = text[place] == UInt8(ascii: "-")
        if isNegative || text[place] == UInt8(ascii: "+") { place += 1 }
        var value = 0
        while place < text.count, UInt8(ascii: "0")...UInt8(ascii: "9") ~= text[place] {
            value = min(value * 10 + Int(text[place] - UInt8(ascii: "0")), largestExponent)
            place += 1
        }
        return isNegative ? -value : value
    }

    private var isZero: Bool { first == end }

    func compare(with other: DecimalText) -> Int {
        if isZero || other.isZero {
            if isZero && other.isZero { return 0 }
            return isZero ? (other.isNegative ? 1 : -1) : (isNegative ? -1 : 1)
        }
        if isNegative != other.isNegative { return isNegative ? -1 : 1 }
        let sign = isNegative ? -1 : 1
        if magnitude != other.magnitude { return magnitude < other.magnitude ? -sign : sign }
        var mine = first
        var others = other.first
        while true {
            let left = digit(&mine)
            let right = other.digit(&others)
            if left == nil && right == nil { return 0 }
            if left ?? 0 != right ?? 0 { return left ?? 0 < right ?? 0 ? -sign : sign }
        }
    }

    /// The digit at a place, and on to the next; nil at the end.
    private func digit(_ place: inout Int) -> UInt8? {
        if place < end, text[place] == UInt8(ascii: ".") { place += 1 }
        guard place < end else { return nil }
        defer { place += 1 }
        return text[place] - UInt8(ascii: "0")
    }

    /// The same bytes for equal numbers, others for different ones.
    func hash(into update: (UnsafeRawBufferPointer) -> Void) {
        guard !isZero else { return withUnsafeBytes(of: UInt8(ascii: "0")) { update($0) } }
        withUnsafeBytes(of: (isNegative ? UInt8(ascii: "-") : UInt8(ascii: "+"))) { update($0) }
        withUnsafeBytes(of: magnitude) { update($0) }
        // The digits up to the last that is not zero, without the point.
        var last = end
        while last > first, text[last - 1] == UInt8(ascii: "0") || text[last - 1] == UInt8(ascii: ".") { last -= 1 }
        let digits = text[first..<last]
        if let point = digits.firstIndex(of: UInt8(ascii: ".")) {
            update(UnsafeRawBufferPointer(rebasing: text[first..<point]))
            update(UnsafeRawBufferPointer(rebasing: text[point + 1..<last]))
        } else {
            update(UnsafeRawBufferPointer(rebasing: digits))
        }
    }
}
