// feedbus: a line as an event.

import FeedbusPlugin

/// Turns the lines of a child or a file into events.
///
/// A CloudEvents object keeps its attributes, known and unknown; any other JSON text becomes the data of an event of its
/// own.
package struct LineReader {
    /// Why a line is no event.
    package struct BadLine: Error, Equatable {
        package var reason: String
    }

    /// What a line turned out to be.
    package enum Content {
        /// A CloudEvents object.
        case event(Event)
        /// Any other JSON text, as the data of an event. Its id is made up unless `isNamed`.
        case data(Event, isNamed: Bool)
    }

    private let id: JSONPointer?
    private let node: String
    /// What the lines that are no CloudEvents objects have in common.
    package let plainOrigin: EventOrigin
    private let keepsText: Bool
    /// The origin of the last CloudEvents object, which is mostly that of the next one too.
    private var lastOrigin: EventOrigin?
    private var origins: [OriginKey: EventOrigin] = [:]

    private struct OriginKey: Hashable {
        var source, type, node: Bytes
        var recorded: Bool
    }

    /// - Parameters:
    ///   - id: where the id of a line that is no CloudEvents object stands.
    ///   - type: the type of such a line.
    ///   - node: whose events they are.
    ///   - source: the CloudEvents source of such a line; nil: the node, as a child's.
    ///   - keepsText: true leaves blanks between the tokens of a line where they are.
    package init(id: JSONPointer?, type: String, node: String, source: String? = nil, keepsText: Bool = false) {
        self.id = id
        self.node = node
        self.keepsText = keepsText
        plainOrigin = EventOrigin(source: source ?? "exec:\(node)", type: type, node: node)
    }

    /// The event that a line stands for; nil where it holds nothing but blanks.
    /// - Parameters:
    ///   - number: the line's number.
    ///   - position: its place, for an id that is made up: equal lines at different places are different events.
    ///   - keepsNode: true where the object's own `feedbusnode` counts (it came through a stage).
    package mutating func read(
        _ line: Bytes, number: Int, position: Int? = nil, keepsNode: Bool = false
    ) throws(BadLine) -> Content? {
        // Some programs begin their output with a byte order mark.
        let hasMark = number == 1 && line.count >= 3 && line[0] == 0xEF && line[1] == 0xBB && line[2] == 0xBF
        let line = hasMark ? line[3..<line.count] : line
        guard !LineReader.isBlank(line) else { return nil }
        let (value, isRepaired) = try parse(line)
        if value.kind == .object, let event = cloudEvent(value, keepsNode: keepsNode) {
            return .event(isRepaired ? LineReader.marked(event) : event)
        }
        let data = text(value)
        let name = id.flatMap { LineReader.id(value[$0]) }
        let event = Event(
            origin: plainOrigin, id: name ?? StableHash.id(data, position: position ?? number), data: data)
        return .data(isRepaired ? LineReader.marked(event) : event, isNamed: name != nil)
    }

    private func parse(_ line: Bytes) throws(BadLine) -> (JSONValue, isRepaired: Bool) {
        do throws(JSONError) {
            return (try JSON.parse(line), false)
        } catch {
            // Broken characters cost only themselves.
            let (repaired, isRepaired) = JSON.repairUTF8(line)
            if isRepaired, let value = try? JSON.parse(repaired) { return (value, true) }
            let excerpt = line.count > 80 ? "\(line[0..<80].string)…" : line.string
            throw BadLine(reason: "\(error.message) at column \(error.offset + 1): \(excerpt)")
        }
    }

    private func text(_ value: JSONValue) -> Bytes { keepsText ? value.raw : value.minified }

    private static func marked(_ event: Event) -> Event {
        var event = event
        event.set("repairedutf8", to: "true")
        return event
    }

    private static func isBlank(_ line: Bytes) -> Bool {
        line.withUnsafeBytes { text in text.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D } }
    }

    private static func id(_ value: JSONValue?) -> Bytes? {
        guard let value else { return nil }
        switch value.kind {
        case .string: return value.stringBytes.flatMap { $0.isEmpty ? nil : $0 }
        case .number, .bool: return value.raw
        default: return nil
        }
    }

    // MARK: - CloudEvents

    /// The event that an object stands for; nil where it lacks one of the four attributes that CloudEvents 1.0 requires.
    private mutating func cloudEvent(_ object: JSONValue, keepsNode: Bool) -> Event? {
        guard object["specversion"]?.kind == .string, let id = object["id"]?.stringBytes, !id.isEmpty,
            let source = object["source"]?.stringBytes, !source.isEmpty, let type = object["type"]?.stringBytes,
            !type.isEmpty
        else { return nil }
        var node: Bytes?
        var recorded = false
        var event = Event(origin: plainOrigin, id: id, data: "null")
        for (key, value) in object.members {
            switch key.string {
            case "specversion", "id", "source", "type", "datacontenttype": break
            case "data": event.data = text(value)
            case "data_base64":
                event.data = value.raw
                event.set("dataencoding", to: "\"base64\"")
            case "subject": event.subject = value.stringBytes ?? Bytes()
            case "time": event.time = value.stringBytes ?? Bytes()
            case "feedbusnode": node = keepsNode ? value.stringBytes : nil
            case "recorded": recorded = value.bool ?? false
            case let name:
                guard LineReader.isAttribute(name, value) else { break }
                event.set(name, to: value.raw)
            }
        }
        event.origin = origin(source: source, type: type, node: node ?? plainOrigin.node, recorded: recorded)
        return event
    }

    /// Names are lower-case letters and digits; values are no containers (CloudEvents 1.0, sections 3.1 and 3.2).
    private static func isAttribute(_ name: String, _ value: JSONValue) -> Bool {
        guard [.string, .number, .bool].contains(value.kind), !name.isEmpty else { return false }
        return name.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) }
    }

    /// The event as one of the node `node`.
    package mutating func event(_ event: Event, of node: Bytes) -> Event {
        guard event.origin.node != node else { return event }
        var event = event
        let origin = event.origin
        event.origin = self.origin(source: origin.source, type: origin.type, node: node, recorded: origin.recorded)
        return event
    }

    private mutating func origin(source: Bytes, type: Bytes, node: Bytes, recorded: Bool) -> EventOrigin {
        if let last = lastOrigin, last.source == source, last.type == type, last.node == node, last.recorded == recorded
        {
            return last
        }
        let key = OriginKey(source: source, type: type, node: node, recorded: recorded)
        if let known = origins[key] {
            lastOrigin = known
            return known
        }
        let made = EventOrigin(source: source.string, type: type.string, node: node.string, recorded: recorded)
        // A child that makes up a source for each event must not fill the memory.
        if origins.count >= 1_024 { origins.removeAll() }
        origins[
            OriginKey(source: made.source, type: made.type, node: made.node, recorded: recorded)] = made
        lastOrigin = made
        return made
    }
}
