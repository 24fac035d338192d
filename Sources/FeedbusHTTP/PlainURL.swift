// feedbus: the form of URLs that nobody can misread.

/// Checks URLs for a plain form: a host of lower-case labels or four plain decimal numbers, a plain port, a path without
/// dot segments, and no byte that is special anywhere.
enum PlainURL {
    /// - Parameter start: where the host begins.
    /// - Returns: the port where there is one, and where the path begins; nil where the form is another.
    static func read(_ text: UnsafeBufferPointer<UInt8>, after start: Int) -> (port: Int?, path: Int)? {
        var at = start
        while at < text.count, isHostByte(text[at]) { at += 1 }
        let hostEnd = at
        guard hostEnd < text.count, isPlainHost(text, start..<hostEnd) else { return nil }
        var port: Int?
        if text[at] == UInt8(ascii: ":") {
            at += 1
            let first = at
            var number = 0
            while at < text.count, at - first < 6, isDigit(text[at]) {
                number = number * 10 + Int(text[at] - 0x30)
                at += 1
            }
            guard at > first, text[first] != 0x30, number <= 65_535 else { return nil }
            port = number
        }
        guard at < text.count, text[at] == UInt8(ascii: "/") else { return nil }
        return isPlainRest(text, from: at) ? (port, at) : nil
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        isLetter(byte) || isDigit(byte) || byte == 0x2D || byte == 0x2E
    }

    /// Names, whose last label begins with a letter, and what is no other way to write four numbers.
    ///
    /// Loops over places, here and below, and not over slices: without optimisation across modules those are ten times as
    /// slow, and each poll reads its URL.
    private static func isPlainHost(_ text: UnsafeBufferPointer<UInt8>, _ host: Range<Int>) -> Bool {
        guard host.count <= 253 else { return false }
        var labels = 1
        var areNumbers = true
        var first = host.lowerBound
        var number = 0
        var at = first
        while at < host.upperBound {
            let byte = text[at]
            if byte == UInt8(ascii: ".") {
                guard at > first else { return false }
                labels += 1
                first = at + 1
                number = 0
            } else if at == first && byte == UInt8(ascii: "-") {
                return false
            } else if isDigit(byte) {
                if at > first && text[first] == UInt8(ascii: "0") { areNumbers = false }
                number = min(number * 10 + Int(byte - 0x30), 256)
                if number > 255 { areNumbers = false }
            } else {
                areNumbers = false
            }
            at += 1
        }
        guard first < host.upperBound else { return false }
        return isLetter(text[first]) || (labels == 4 && areNumbers)
    }

    private static func isPlainRest(_ text: UnsafeBufferPointer<UInt8>, from start: Int) -> Bool {
        var last: UInt8 = 0
        var isInQuery = false
        var at = start
        while at < text.count {
            let byte = text[at]
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: break
            case UInt8(ascii: "."): if !isInQuery && last == UInt8(ascii: "/") { return false }
            case UInt8(ascii: "?"):
                // An empty query is libcurl's business.
                if at + 1 == text.count { return false }
                isInQuery = true
            case UInt8(ascii: "%"):
                // An encoded dot may be one of a dot segment.
                guard at + 2 < text.count,
                    isInQuery || text[at + 1] != UInt8(ascii: "2") || text[at + 2] | 0x20 != UInt8(ascii: "e")
                else { return false }
            case UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: ":"),
                UInt8(ascii: "@"), UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "\'"),
                UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: ","),
                UInt8(ascii: ";"), UInt8(ascii: "="):
                break
            default: return false
            }
            last = byte
            at += 1
        }
        return true
    }

    private static func isLetter(_ byte: UInt8) -> Bool { byte >= 0x61 && byte <= 0x7A }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
}
