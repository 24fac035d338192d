// feedbus: the form of URLs that nobody can misread.

/// Checks URLs for a plain form: a host of lower-case labels or four plain decimal numbers, a plain port, a path without
/// dot segments, and no byte that is special anywhere.
enum PlainURL {
    /// - Parameter start: where the host begins.
    /// - Returns: where the host ends, and the port where there is one; nil where the form is another.
    static func read(_ text: UnsafeBufferPointer<UInt8>, after start: Int) -> (hostEnd: Int, port: Int?)? {
        var at = start
        while at < text.count, isHostByte(text[at]) { at += 1 }
        let hostEnd = at
        guard hostEnd < text.count, isPlainHost(text[start..<hostEnd]) else { return nil }
        var port: Int?
        if text[at] == UInt8(ascii: ":") {
            at += 1
            let first = at
            var number = 0
            while at < text.count, at - first < 6, (0x30...0x39).contains(text[at]) {
                number = number * 10 + Int(text[at] - 0x30)
                at += 1
            }
            guard at > first, text[first] != 0x30, number <= 65_535 else { return nil }
            port = number
        }
        guard at < text.count, text[at] == UInt8(ascii: "/") else { return nil }
        return isPlainRest(text[at...]) ? (hostEnd, port) : nil
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D || byte == 0x2E
    }

    /// Names, whose last label begins with a letter, and what is no other way to write four numbers.
    private static func isPlainHost(_ host: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        let labels = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard let last = labels.last, host.count <= 253, labels.allSatisfy({ !$0.isEmpty && $0.first != 0x2D }) else {
            return false
        }
        if (0x61...0x7A).contains(last.first!) { return true }
        return labels.count == 4
            && labels.allSatisfy { label in
                label.count <= 3 && label.allSatisfy { (0x30...0x39).contains($0) }
                    && (label.count == 1 || label.first != 0x30)
                    && label.reduce(0) { $0 * 10 + Int($1 - 0x30) } <= 255
            }
    }

    private static func isPlainRest(_ rest: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var last: UInt8 = 0
        var isInQuery = false
        for (index, byte) in zip(rest.indices, rest) {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: break
            case UInt8(ascii: "."): if !isInQuery && last == UInt8(ascii: "/") { return false }
            case UInt8(ascii: "?"):
                // An empty query is libcurl's business.
                if index + 1 == rest.endIndex { return false }
                isInQuery = true
            case UInt8(ascii: "%"):
                // An encoded dot may be one of a dot segment.
                guard index + 2 < rest.endIndex,
                    isInQuery || rest[index + 1] != UInt8(ascii: "2") || !"eE".utf8.contains(rest[index + 2])
                else { return false }
            case UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: ":"),
                UInt8(ascii: "@"), UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "\'"),
                UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: ","),
                UInt8(ascii: ";"), UInt8(ascii: "="):
                break
            default: return false
            }
            last = byte
        }
        return true
    }
}
