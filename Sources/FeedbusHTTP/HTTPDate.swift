// feedbus: the dates of HTTP header fields.

import FeedbusBase

/// Reads HTTP dates (RFC 9110, section 5.6.7): the fixed form and both obsolete ones.
enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or `Sun Nov  6 08:49:37 1994`; nil for other text.
    static func parse(_ text: String) -> WallTime? {
        let words = text.split { $0 == " " || $0 == "," || $0 == "\t" }
        guard let weekday = words.first, weekday.allSatisfy({ $0.isASCII && $0.isLetter }) else { return nil }
        switch words.count {
        case 6 where isUTC(words[5]):
            return date(day: words[1], month: words[2], year: words[3], time: words[4])
        case 4 where isUTC(words[3]):
            let parts = words[1].split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 3 else { return nil }
            return date(day: parts[0], month: parts[1], year: parts[2], time: words[2])
        case 5:
            return date(day: words[2], month: words[1], year: words[4], time: words[3])
        default:
            return nil
        }
    }

    private static func isUTC(_ zone: Substring) -> Bool { ["GMT", "UTC", "+0000", "-0000"].contains(zone) }

    private static func date(day: Substring, month: Substring, year: Substring, time: Substring) -> WallTime? {
        let clock = time.split(separator: ":", omittingEmptySubsequences: false)
        guard let monthIndex = months.firstIndex(where: { $0 == month }), let day = number(day),
            var year = number(year),
            clock.count == 3, let hour = number(clock[0]), let minute = number(clock[1]), let second = number(clock[2])
        else { return nil }
        // Two digits, RFC 850: what would be more than 50 years ahead is of the century before.
        if year < 100 { year += year < 76 ? 2_000 : 1_900 }
        return WallTime(year: year, month: monthIndex + 1, day: day, hour: hour, minute: minute, second: second)
    }

    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.count <= 4, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text)
    }
}
