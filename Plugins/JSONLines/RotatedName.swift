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

        /// Reads a file name; nil for one that is not of this pattern.
        func name(_ text: String) -> RotatedName? {
            guard text.hasPrefix(stem + "-") else { return nil }
            var middle = text.dropFirst(stem.count + 1)
            let isCompressed = middle.hasSuffix(".gz")
            if isCompressed { middle = middle.dropLast(3) }
            guard middle.hasSuffix(fileExtension) else { return nil }
            let parts = middle.dropLast(fileExtension.count).split(separator: "-", omittingEmptySubsequences: false)
            guard let stamp = parts.first, RotatedName.isStamp(stamp) else { return nil }
            switch parts.count {
            case 1: return RotatedName(stamp: String(stamp), counter: 1, isCompressed: isCompressed)
            case 2:
                guard let counter = Int(parts[1]), 1 < counter, counter < 1_000_000_000, String(counter) == parts[1]
                else { return nil }
                return RotatedName(stamp: String(stamp), counter: counter, isCompressed: isCompressed)
            default: return nil
            }
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

    private static func isStamp(_ text: Substring) -> Bool {
        let digits = Array(text.utf8)
        guard digits.count == 16 else { return false }
        return digits.enumerated().allSatisfy { index, byte in
            switch index {
            case 8: byte == UInt8(ascii: "T")
            case 15: byte == UInt8(ascii: "Z")
            default: (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
        }
    }
}
