// feedbus: a log record as a line of text or JSON.

import FeedbusBase
import FeedbusPlugin

/// Renders log records.
package struct LogText: Sendable {
    package var format: LogFormat
    package var color: Bool

    package init(format: LogFormat, color: Bool) {
        self.format = format
        self.color = color
    }

    /// One line with its line break. Control characters are escaped: a record is always one line.
    package func line(_ record: LogRecord, at time: WallTime) -> String {
        switch format {
        case .text: text(record, time)
        case .json: json(record, time)
        }
    }

    private func text(_ record: LogRecord, _ time: WallTime) -> String {
        let level = record.level.name.padding(to: 7)
        var line =
            color ? "\u{1B}[2m\(time.rfc3339(milliseconds: true))\u{1B}[0m " : time.rfc3339(milliseconds: true) + " "
        line += color ? "\u{1B}[\(code(record.level))m\(level)\u{1B}[0m " : level + " "
        if let node = record.node { line += color ? "\u{1B}[1m\(node)\u{1B}[0m: " : "\(node): " }
        line += Self.oneLine(record.message)
        for (key, value) in record.details { line += " \(key)=\(Self.oneLine(value))" }
        return line + "\n"
    }

    private func code(_ level: LogLevel) -> String {
        switch level {
        case .trace, .debug: "2"
        case .info: "36"
        case .warning: "33"
        case .error: "31"
        }
    }

    private func json(_ record: LogRecord, _ time: WallTime) -> String {
        var line = "{\"time\":\(jsonText(time.rfc3339(milliseconds: true))),\"level\":\"\(record.level.name)\""
        if let node = record.node { line += ",\"node\":\(jsonText(node))" }
        line += ",\"message\":\(jsonText(record.message))"
        for (key, value) in record.details { line += ",\(jsonText(key)):\(jsonText(value))" }
        return line + "}\n"
    }

    /// The text with everything escaped that a terminal would obey: control characters (C0, DEL, C1), line and paragraph
    /// separators, and what turns the direction of writing. A name in a config, or a word of a service, may hold them.
    package static func oneLine(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isObeyed) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where isObeyed(scalar): result += "\\u{" + String(scalar.value, radix: 16) + "}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func isObeyed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

extension String {
    fileprivate func padding(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
