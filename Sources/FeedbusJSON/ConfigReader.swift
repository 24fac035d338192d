// feedbus: the structure of a config text: containers, members, commas, and how to go on behind a mistake.

import FeedbusBase

/// Reads a config text once, from start to end. Every step moves forward or ends, whatever the text is.
struct ConfigReader {
    let text: UnsafeRawBufferPointer
    var offset = 0
    var problems: [ConfigProblem] = []
    private var tracker = PositionTracker()
    /// The opening brackets that are not closed yet.
    private var open: [(bracket: UInt8, position: SourcePosition)] = []
    /// The last mistake may have eaten a comma: one that is missing next is not worth a word.
    var forgivesComma = false
    /// What follows cannot be understood; nothing more is reported.
    var isStopped = false

    init(text: UnsafeRawBufferPointer) { self.text = text }

    mutating func readText() -> PositionedValue? {
        if text.starts(with: [0xEF, 0xBB, 0xBF]) {
            report("byte order mark (BOM) at the start of the file: save it as UTF-8 without one", "bom", "", at: 0)
            offset = 3
        } else if text.starts(with: [0xFE, 0xFF]) || text.starts(with: [0xFF, 0xFE]) {
            report("the file is UTF-16, its byte order mark (BOM) says: save it as UTF-8", "encoding", "", at: 0)
            return nil
        }
        if text.prefix(2).contains(0) {
            report("the file is no UTF-8 text: save it as UTF-8", "encoding", "", at: 0)
            return nil
        }
        skipBlanks("")
        guard byte != nil else {
            report("the file is empty: there is no JSON value in it", "empty", "", at: offset)
            return nil
        }
        var value = readValue("")
        skipBlanks("")
        if byte != nil { value = readRest(value) }
        return value
    }

    /// Something stands behind the end. Where the root was an object and more members follow, one bracket too many has
    /// closed it, and they are read as its members.
    private mutating func readRest(_ value: PositionedValue?) -> PositionedValue? {
        report("content after the end of the config", "content-after-end", "", at: offset)
        guard var value, case .object(var members) = value.content else { return value }
        while let byte {
            switch byte {
            case ConfigReader.comma, ConfigReader.closeObject, ConfigReader.closeArray: offset += 1
            case JSONText.quote:
                open.append((ConfigReader.openObject, value.position))
                readMembers(into: &members, "", isRest: true)
                open.removeLast()
                value.content = .object(members)
            default: return value
            }
            skipBlanks("")
        }
        return value
    }

    /// Reads what begins here as a value. Nil where no value begins, or none is left of it.
    mutating func readValue(_ path: String) -> PositionedValue? {
        guard let byte else { return nil }
        let start = position(of: offset)
        let content: PositionedValue.Content?
        switch byte {
        case ConfigReader.openObject: content = readContainer(path, start, isObject: true)
        case ConfigReader.openArray: content = readContainer(path, start, isObject: false)
        case JSONText.quote, ConfigReader.apostrophe: content = .string(readString(path))
        default: content = isWordByte(at: offset) ? readWord(path) : nil
        }
        guard let content else {
            if !isStopped && offset < text.count { readJunk("a value", path) }
            return nil
        }
        return PositionedValue(content, at: start, path: path)
    }

    private mutating func readContainer(_ path: String, _ start: SourcePosition, isObject: Bool) -> PositionedValue
        .Content?
    {
        guard open.count < JSON.maximumDepth else {
            report("nested deeper than \(JSON.maximumDepth)", "too-deep", path, at: offset)
            stop()
            return nil
        }
        open.append((text[offset], start))
        defer { open.removeLast() }
        offset += 1
        if isObject {
            var members: [PositionedValue.Member] = []
            readMembers(into: &members, path, isRest: false)
            return .object(members)
        }
        return .array(readElements(path))
    }

    /// Reads members up to the closing bracket and over it. `isRest`: the end of the text closes it as well.
    private mutating func readMembers(into members: inout [PositionedValue.Member], _ path: String, isRest: Bool) {
        var places = Dictionary(members.map { ($0.key, $0.keyPosition) }, uniquingKeysWith: { first, _ in first })
        var commas = Commas()
        while true {
            skipBlanks(path)
            if isRest && byte == nil { return }
            if endsContainer(commas, path) { return }
            if readComma(&commas, path) { continue }
            readMember(into: &members, &places, path)
            commas.isDue = true
            commas.last = nil
        }
    }

    private mutating func readMember(
        into members: inout [PositionedValue.Member], _ places: inout [String: SourcePosition], _ path: String
    ) {
        let start = offset
        guard let key = readKey(path) else { return }
        let keyPosition = position(of: start)
        let memberPath = path.isEmpty ? key : "\(path).\(key)"
        if let first = places[key] {
            report(
                "duplicate key \(shown(key)): it is already at \(first.line):\(first.column)", "duplicate-key",
                memberPath, at: start)
        }
        skipBlanks(memberPath)
        switch byte {
        case UInt8(ascii: ":"): offset += 1
        case UInt8(ascii: "="):
            report("expected \":\" behind the key \(shown(key)), found \"=\"", "missing-colon", memberPath, at: offset)
            offset += 1
        case nil, ConfigReader.comma, ConfigReader.closeObject, ConfigReader.closeArray: break
        default: report("missing \":\" behind the key \(shown(key))", "missing-colon", memberPath, at: offset)
        }
        skipBlanks(memberPath)
        switch byte {
        case nil, ConfigReader.comma, ConfigReader.closeObject, ConfigReader.closeArray:
            report("the key \(shown(key)) has no value", "missing-value", memberPath, at: start)
        default:
            guard let value = readValue(memberPath), places[key] == nil else { return }
            places[key] = keyPosition
            members.append(.init(key: key, keyPosition: keyPosition, value: value))
        }
    }

    private mutating func readKey(_ path: String) -> String? {
        guard let byte else { return nil }
        if byte == JSONText.quote || byte == ConfigReader.apostrophe { return readString(path) }
        let start = offset
        if isWordByte(at: offset) {
            let key = word()
            report("the key \(shown(key)) must stand in double quotes", "bare-key", path, at: start)
            return key
        }
        if byte == ConfigReader.openObject || byte == ConfigReader.openArray {
            report("expected a key, found \(found(at: offset))", "unexpected", path, at: offset)
            _ = readValue(path)
        } else {
            readJunk("a key", path)
        }
        return nil
    }

    private mutating func readElements(_ path: String) -> [PositionedValue] {
        var elements: [PositionedValue] = []
        var commas = Commas()
        while true {
            skipBlanks(path)
            if endsContainer(commas, path) { return elements }
            if readComma(&commas, path) { continue }
            if let element = readValue("\(path)[\(elements.count)]") { elements.append(element) }
            commas.isDue = true
            commas.last = nil
        }
    }

    /// What a container knows of its commas.
    private struct Commas {
        /// The place of a comma that nothing has followed yet.
        var last: Int?
        /// Something stands in front of here that a comma must separate from the next.
        var isDue = false
    }

    /// Whether the innermost container ends here; goes over its bracket.
    private mutating func endsContainer(_ commas: Commas, _ path: String) -> Bool {
        guard !isStopped, let container = open.last else { return true }
        let isObject = container.bracket == ConfigReader.openObject
        let closing = isObject ? "}" : "]"
        let opening = isObject ? "{" : "["
        let place = "the \"\(opening)\" at \(container.position.line):\(container.position.column)"
        guard let byte else {
            report("the file ends, but \(place) is not closed by \"\(closing)\"", "unclosed", path, at: offset)
            return true
        }
        guard byte == ConfigReader.closeObject || byte == ConfigReader.closeArray else { return false }
        if let comma = commas.last { report("trailing comma: nothing follows it", "trailing-comma", path, at: comma) }
        forgivesComma = false
        if byte == (isObject ? ConfigReader.closeObject : ConfigReader.closeArray) {
            offset += 1
            return true
        }
        report("expected \"\(closing)\" for \(place), found \(found(at: offset))", "wrong-bracket", path, at: offset)
        // The bracket closes a container further out, if one fits; else it was meant for this one.
        let fitting = isObject ? ConfigReader.openArray : ConfigReader.openObject
        if !open.dropLast().contains(where: { $0.bracket == fitting }) { offset += 1 }
        return true
    }

    /// Goes over a comma if one stands here; else says so where one is missing.
    private mutating func readComma(_ commas: inout Commas, _ path: String) -> Bool {
        guard byte == ConfigReader.comma else {
            if commas.isDue && byte == UInt8(ascii: ":") {
                skipColon(path)
                return true
            }
            if commas.isDue && !forgivesComma {
                report("missing comma in front of \(found(at: offset))", "missing-comma", path, at: offset)
            }
            forgivesComma = false
            return false
        }
        if commas.isDue {
            commas = Commas(last: offset, isDue: false)
        } else if !forgivesComma {
            report("a comma with nothing in front of it", "extra-comma", path, at: offset)
        }
        forgivesComma = false
        offset += 1
        return true
    }

    /// A colon where a comma should be: in an object, what follows is a value without a key.
    private mutating func skipColon(_ path: String) {
        report("expected a comma or a closing bracket, found \":\"", "unexpected", path, at: offset)
        offset += 1
        skipBlanks(path)
        switch byte {
        case nil, ConfigReader.comma, ConfigReader.closeObject, ConfigReader.closeArray: break
        default: if open.last?.bracket == ConfigReader.openObject { _ = readValue(path) }
        }
        forgivesComma = true
    }

    static let openObject = UInt8(ascii: "{"), closeObject = UInt8(ascii: "}")
    static let openArray = UInt8(ascii: "["), closeArray = UInt8(ascii: "]")
    static let comma = UInt8(ascii: ","), apostrophe = UInt8(ascii: "'")

    var byte: UInt8? { offset < text.count ? text[offset] : nil }

    mutating func position(of offset: Int) -> SourcePosition { tracker.position(of: offset, in: text) }

    mutating func report(_ message: String, _ code: String, _ path: String, at offset: Int, suggestion: String? = nil) {
        guard !isStopped else { return }
        let position = position(of: offset)
        problems.append(ConfigProblem(message, at: position, code: code, path: path, suggestion: suggestion))
        guard problems.count == ConfigText.maximumProblems else { return }
        problems.append(
            ConfigProblem("more mistakes than these; the rest is not shown", at: position, code: "too-many", path: path)
        )
        stop()
    }

    /// Gives up on the rest.
    mutating func stop() {
        isStopped = true
        offset = text.count
    }
}
