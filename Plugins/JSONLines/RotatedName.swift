// feedbus: the names of files that were set aside.

import FeedbusPlugin

/// Names of old files: `feedbus-20261130T101500Z.jsonl`, with a counter behind the time where that name is taken
/// (`feedbus-20261130T101500Z-2.jsonl`), and `.gz` at the end of compressed ones.
struct RotatedName: Sendable, Hashable, Comparable {
    /// What the names of one file have in common.
    struct Pattern: Sendable {
        /// With its final slash; empty where the path has none.
        let folder: String
        let stem: String
        /// With its dot; may be empty.
        let fileExtension: String

        init(path: String) {
            let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
            folder = String(path[..<name.startIndex])
            if let dot = name.lastIndex(of: "."), dot != name.startIndex {
                stem = String(name[..<dot])
                fileExtension = String(name[dot...])
            } else {
                stem = String(name)
                fileExtension = ""
            }
        }

        /// Reads a file name; nil for one that is not of this pattern. By bytes: a folder may hold thousands, and all of
        /// them are read at each rotation.
        func name(_ text: String) -> RotatedName? {
            var middle = text.utf8[...]
            guard RotatedName.drop("\(stem)-".utf8, from: &middle) else { return nil }
            let isCompressed = RotatedName.dropLast(".gz".utf8, from: &middle)
            guard RotatedName.dropLast(fileExtension.utf8, from: &middle), middle.count >= 16 else { return nil }
            let (stamp, rest) = (middle.prefix(16), middle.dropFirst(16))
            guard RotatedName.isStamp(stamp) else { return nil }
            var counter = 1
            if !rest.isEmpty {
                let digits = Substring(rest.dropFirst())
                guard rest.first == UInt8(ascii: "-"), let number = Int(digits), 1 < number, number < 1_000_000_000,
                    String(number) == digits
                else { return nil }
                counter = number
            }
            return RotatedName(stamp: String(Substring(stamp)), counter: counter, isCompressed: isCompressed)
        }

        func text(_ name: RotatedName) -> String {
            let counter = name.counter > 1 ? "-\(name.counter)" : ""
            return "\(stem)-\(name.stamp)\(counter)\(fileExtension)\(name.isCompressed ? ".gz" : "")"
        }
    }

    /// `20261130T101500Z`
    var stamp: String
    /// From 1, which is not shown.
    var counter: Int
    var isCompressed: Bool

    init(stamp: String, counter: Int, isCompressed: Bool) {
        self.stamp = stamp
        self.counter = counter
        self.isCompressed = isCompressed
    }

    init(time: WallTime, counter: Int) {
        let text = time.rfc3339().filter { $0 != "-" && $0 != ":" }
        self.init(stamp: text, counter: counter, isCompressed: false)
    }

    /// From old to new.
    static func < (left: RotatedName, right: RotatedName) -> Bool {
        (left.stamp, left.counter) < (right.stamp, right.counter)
    }

    private static func drop(_ start: String.UTF8View, from text: inout Substring.UTF8View) -> Bool {
        guard text.starts(with: start) else { return false }
        text = text.dropFirst(start.count)
        return true
    }

    private static func dropLast(_ end: String.UTF8View, from text: inout Substring.UTF8View) -> Bool {
        let count = end.count
        guard text.suffix(count).elementsEqual(end) else { return false }
        text = text.dropLast(count)
        return true
    }

    private static func isStamp(_ text: Substring.UTF8View) -> Bool {
        var position = 0
        for byte in text {
            switch position {
            case 8: if byte != UInt8(ascii: "T") { return false }
            case 15: if byte != UInt8(ascii: "Z") { return false }
            default: if !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { return false }
            }
            position += 1
        }
        return position == 16
    }
}
