// feedbus: events as the text that the console prints.

import FeedbusPlugin

/// Renders events by the options of a console.
struct ConsoleRenderer {
    private let format: ConsoleFormat
    private let template: LineTemplate
    /// Lines of the built-in template stand below each other on a terminal.
    private let isAligned: Bool
    private let headline: @Sendable (Event) -> String?
    /// With SGR colours.
    var isColored = false
    /// What a service sent must not command a terminal; a program that reads the output gets the characters as they are.
    var isTerminal = false
    /// The width of the terminal: longer lines are cut; nil where the output is no terminal.
    var columns: Int?
    private var localTime = LocalTime()
    private var colors = NodeColors()
    /// The longest name of a node so far.
    private var nodeWidth = 0

    /// A longer name pushes its own line to the right only.
    private static let widestNode = 16

    /// - Parameter template: nil for the format's own.
    init(format: ConsoleFormat, template: LineTemplate?, headline: @escaping @Sendable (Event) -> String?) {
        self.format = format
        self.template = template ?? .line
        isAligned = template == nil
        self.headline = headline
    }

    /// Appends the event with its final line break.
    mutating func append(_ event: Event, now: WallTime, to writer: inout ByteWriter) {
        switch format {
        case .json where isTerminal: writer.append(TerminalText.escaped(event.cloudEvent))
        case .json: event.appendCloudEvent(to: &writer)
        case .pretty:
            let text = isTerminal ? TerminalText.escaped(event.cloudEvent) : event.cloudEvent
            PrettyJSON(isColored: isColored).append(text, to: &writer)
        case .line: appendLine(event, now: now, to: &writer)
        }
        writer.append(UInt8(ascii: "\n"))
    }

    private mutating func appendLine(_ event: Event, now: WallTime, to writer: inout ByteWriter) {
        var left = columns ?? .max
        for piece in template.pieces {
            var text = TerminalText.oneLine(self.text(of: piece, event, now: now))
            if columns != nil {
                let (fitting, width) = TerminalText.fit(text, columns: left)
                text = fitting
                left -= width
            }
            switch piece {
            case .node where isColored:
                writer.append("\u{1B}[\(colors.color(of: event.origin.node.string))m\(text)\u{1B}[0m")
            case .time where isColored:
                writer.append("\u{1B}[2m\(text)\u{1B}[0m")
            default:
                writer.append(text)
            }
            if piece == .node && isAligned && columns != nil {
                let padding = min(self.padding(after: text), left)
                writer.append(String(repeating: " ", count: padding))
                left -= padding
            }
        }
    }

    /// What is missing of the width of the longest name.
    private mutating func padding(after node: String) -> Int {
        let width = node.reduce(0) { $0 + TerminalText.width($1) }
        nodeWidth = max(nodeWidth, min(width, ConsoleRenderer.widestNode))
        return max(nodeWidth - width, 0)
    }

    private mutating func time(_ time: WallTime, now: WallTime) -> String {
        isAligned && columns != nil ? localTime.column(time, now: now) : localTime.text(time, now: now)
    }

    private mutating func text(of piece: LineTemplate.Piece, _ event: Event, now: WallTime) -> String {
        switch piece {
        case .text(let text): text
        case .time: self.time(WallTime(rfc3339: event.time) ?? now, now: now)
        case .timestamp: event.time.string
        case .node: event.origin.node.string
        case .type: event.origin.type.string
        case .id: event.id.string
        case .source: event.origin.source.string
        case .subject: event.subject.string
        case .headline: headline(event) ?? fallback(event)
        case .data: event.data.string
        case .pointer(let pointer): value(at: pointer, in: event.data)
        }
    }

    /// For events that no plugin has words for.
    private func fallback(_ event: Event) -> String {
        let subject = event.subject.isEmpty ? "" : " \(event.subject.string)"
        return "\(event.origin.type.string) \(event.id.string)\(subject)"
    }

    private func value(at pointer: JSONPointer, in data: Bytes) -> String {
        guard let value = (try? JSON.parse(data))?[pointer] else { return "" }
        return value.string ?? value.raw.string
    }
}
