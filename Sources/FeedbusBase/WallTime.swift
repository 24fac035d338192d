// feedbus: UTC points in time and their RFC 3339 text.

/// A point in time by the wall clock: seconds since 1970-01-01T00:00:00Z and nanoseconds.
public struct WallTime: Sendable, Hashable, Comparable {
    public var seconds: Int64
    /// 0..<1_000_000_000
    public var nanoseconds: Int32

    public init(seconds: Int64, nanoseconds: Int32 = 0) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    public static func < (left: WallTime, right: WallTime) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }

    public static func - (left: WallTime, right: WallTime) -> Duration {
        .seconds(left.seconds - right.seconds) + .nanoseconds(Int64(left.nanoseconds) - Int64(right.nanoseconds))
    }

    public static func + (time: WallTime, duration: Duration) -> WallTime {
        let total = Int64(time.nanoseconds) + duration.components.attoseconds / 1_000_000_000
        var seconds = time.seconds &+ duration.components.seconds
        var nanoseconds = total
        if nanoseconds < 0 {
            nanoseconds += 1_000_000_000
            seconds -= 1
        } else if nanoseconds >= 1_000_000_000 {
            nanoseconds -= 1_000_000_000
            seconds += 1
        }
        return WallTime(seconds: seconds, nanoseconds: Int32(nanoseconds))
    }

    /// The date and time of day in UTC (proleptic Gregorian calendar).
    public var components: (year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        // Days to a civil date, counted in eras of 400 years that begin on 1 March.
        let days = Int((Double(seconds) / 86_400).rounded(.down))
        let ofDay = Int(seconds - Int64(days) * 86_400)
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, day, ofDay / 3_600, ofDay / 60 % 60, ofDay % 60)
    }

    /// The point in time of a UTC date and time of day; nil where there is no such date. A leap second counts as :59.
    public init?(year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0) {
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (0...9999).contains(year), (1...12).contains(month), (1...lengths[month - 1]).contains(day),
            (0..<24).contains(hour), (0..<60).contains(minute), (0...60).contains(second)
        else { return nil }
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let days = era * 146_097 + dayOfEra - 719_468
        self.init(seconds: Int64(days) * 86_400 + Int64(hour * 3_600 + minute * 60 + min(second, 59)))
    }
}

extension WallTime {
    /// Reads an RFC 3339 date-time: any offset, any number of fraction digits, `T` or a blank between date and time.
    public init?(rfc3339 text: String) {
        self.init(rfc3339: Bytes(text))
    }

    /// Reads an RFC 3339 date-time; nil for any other text.
    public init?(rfc3339 bytes: Bytes) {
        let found: WallTime? = bytes.withUnsafeBytes { text in
            func number(_ from: Int, _ length: Int) -> Int? {
                guard from + length <= text.count else { return nil }
                var value = 0
                for index in from..<from + length {
                    guard (0x30...0x39).contains(text[index]) else { return nil }
                    value = value * 10 + Int(text[index] - 0x30)
                }
                return value
            }
            func mark(_ at: Int, _ bytes: StaticString) -> Bool {
                at < text.count
                    && UnsafeBufferPointer(start: bytes.utf8Start, count: bytes.utf8CodeUnitCount).contains(text[at])
            }
            guard let year = number(0, 4), mark(4, "-"), let month = number(5, 2), mark(7, "-"),
                let day = number(8, 2), mark(10, "Tt "), let hour = number(11, 2), mark(13, ":"),
                let minute = number(14, 2), mark(16, ":"), let second = number(17, 2),
                var time = WallTime(
                    year: year, month: month, day: day, hour: hour, minute: minute, second: second)
            else { return nil }
            var at = 19
            if mark(at, ".") {
                at += 1
                let first = at
                var value = 0
                while let digit = number(at, 1) {
                    if at - first < 9 { value = value * 10 + digit }
                    at += 1
                }
                guard at > first else { return nil }
                for _ in min(at - first, 9)..<9 { value *= 10 }
                time.nanoseconds = Int32(value)
            }
            if mark(at, "Zz") { return at + 1 == text.count ? time : nil }
            guard mark(at, "+-"), let hours = number(at + 1, 2), mark(at + 3, ":"), let minutes = number(at + 4, 2),
                at + 6 == text.count, hours < 24, minutes < 60
            else { return nil }
            let offset = Int64(hours * 3_600 + minutes * 60)
            time.seconds += text[at] == UInt8(ascii: "+") ? -offset : offset
            return time
        }
        guard let found else { return nil }
        self = found
    }

    /// `2026-03-01T12:00:00Z`, with milliseconds where asked for.
    public func rfc3339(milliseconds: Bool = false) -> String {
        let (year, month, day, hour, minute, second) = components
        var text = padded(year, 4)
        text += "-" + padded(month, 2) + "-" + padded(day, 2)
        text += "T" + padded(hour, 2) + ":" + padded(minute, 2) + ":" + padded(second, 2)
        if milliseconds { text += "." + padded(Int(nanoseconds) / 1_000_000, 3) }
        return text + "Z"
    }
}

/// A non-negative number with leading zeros.
package func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
}
