// feedbus: durations and sizes as people write them in a config.

extension Duration {
    /// Reads `"250ms"`, `"60s"`, `"5m"`, `"1h"`, `"1d"`, also with a decimal fraction (`"1.5s"`); nil for other text.
    public init?(text: String) {
        guard let (number, unit) = splitUnit(text) else { return nil }
        let seconds: Double
        switch unit {
        case "ms": seconds = 0.001
        case "s": seconds = 1
        case "m": seconds = 60
        case "h": seconds = 3_600
        case "d": seconds = 86_400
        default: return nil
        }
        let total = number * seconds
        guard total.isFinite, total < 9e9 else { return nil }
        self = .nanoseconds(Int64((total * 1e9).rounded()))
    }

    /// The shortest exact text that `init(text:)` reads back: `"1500ms"`, `"90s"`, `"1h"`.
    public var text: String {
        let milliseconds = nanoseconds / 1_000_000
        if milliseconds % 1_000 != 0 || milliseconds == 0 { return "\(milliseconds)ms" }
        let seconds = milliseconds / 1_000
        if seconds % 86_400 == 0 { return "\(seconds / 86_400)d" }
        if seconds % 3_600 == 0 { return "\(seconds / 3_600)h" }
        if seconds % 60 == 0 && seconds > 60 { return "\(seconds / 60)m" }
        return "\(seconds)s"
    }
}

/// A number of bytes as text: `"64KiB"`, `"10MB"`.
public enum ByteSize {
    private static let units: [(name: String, bytes: Double)] = [
        ("B", 1), ("kB", 1e3), ("KB", 1e3), ("MB", 1e6), ("GB", 1e9), ("KiB", 1_024), ("MiB", 1_048_576),
        ("GiB", 1_073_741_824),
    ]

    /// Reads a size with its unit (B, kB, MB, GB, KiB, MiB, GiB); nil for other text.
    public static func parse(_ text: String) -> Int? {
        guard let (number, unit) = splitUnit(text), let found = units.first(where: { $0.name == unit }) else {
            return nil
        }
        let total = (number * found.bytes).rounded()
        return total <= 1e15 ? Int(total) : nil
    }

    /// The shortest exact text that `parse` reads back.
    public static func text(_ bytes: Int) -> String {
        for (name, size) in [
            ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("GB", 1_000_000_000), ("MB", 1_000_000),
        ]
        where bytes >= size && bytes % size == 0 {
            return "\(bytes / size)\(name)"
        }
        return "\(bytes)B"
    }
}

/// "1.5s" -> (1.5, "s"). No sign, no exponent.
private func splitUnit(_ text: String) -> (Double, Substring)? {
    let number = text.prefix { ($0.isASCII && $0.isNumber) || $0 == "." }
    guard number.first != ".", number.last != ".", !number.isEmpty, let value = Double(number) else { return nil }
    return (value, text[number.endIndex...])
}

/// `1 event`, `2 events`.
public func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
