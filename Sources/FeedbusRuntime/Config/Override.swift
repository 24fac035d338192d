// feedbus: one `--set PATH=VALUE` of the command line.

import FeedbusBase
import FeedbusJSON
import FeedbusPlugin

/// A value that takes the place of one in the config.
package struct Override: Sendable, Equatable {
    /// `sources.jokes.with.every`
    package var path: String
    /// The text behind the `=`.
    package var text: String

    package init(path: String, text: String) {
        self.path = path
        self.text = text
    }

    /// Reads `PATH=VALUE`; nil where the text has another form.
    package init?(argument: String) {
        guard let mark = argument.firstIndex(of: "="), mark != argument.startIndex else { return nil }
        self.init(path: String(argument[..<mark]), text: String(argument[argument.index(after: mark)...]))
    }

    /// The value: JSON where the text is JSON and the option takes more than text, else the text itself.
    func value(for kind: OptionKind?, at position: SourcePosition) -> PositionedValue {
        let asText = PositionedValue(.string(text), at: position, path: path)
        if case .string = kind { return asText }
        let (parsed, problems) = ConfigText.parse(Bytes(text))
        guard problems.isEmpty, let parsed else { return asText }
        switch parsed.content {
        case .bool, .number, .null:
            // `--set sinks.log.with.path=2026` is a path, where a list of paths would do as well.
            if let kind, kind.acceptsAnyText, !kind.accepts(parsed) { return asText }
        case .string, .array, .object: break
        }
        return parsed.moved(to: path, position)
    }
}

extension OptionKind {
    /// True where any text will do.
    fileprivate var acceptsAnyText: Bool {
        switch self {
        case .string: true
        case .either(let kinds): kinds.contains { $0.acceptsAnyText }
        default: false
        }
    }

    /// True where a value of this JSON kind may do. Asked for booleans, numbers and null only.
    fileprivate func accepts(_ value: PositionedValue) -> Bool {
        switch (self, value.content) {
        case (.boolean, .bool), (.integer, .number), (.json(nil, _), _): true
        case (.either(let kinds), _): kinds.contains { $0.accepts(value) }
        default: false
        }
    }
}

extension PositionedValue {
    /// The same value at another path, all of it at one position.
    fileprivate func moved(to path: String, _ position: SourcePosition) -> PositionedValue {
        let content: Content
        switch self.content {
        case .object(let members):
            content = .object(
                members.map {
                    Member(key: $0.key, keyPosition: position, value: $0.value.moved(to: "\(path).\($0.key)", position))
                })
        case .array(let elements):
            content = .array(elements.enumerated().map { $1.moved(to: "\(path)[\($0)]", position) })
        case .null, .bool, .number, .string:
            content = self.content
        }
        return PositionedValue(content, at: position, path: path)
    }

    /// The tree with the value at `steps` replaced; objects on the way there are made where they are missing.
    func setting(_ steps: ArraySlice<String>, to new: PositionedValue) -> PositionedValue {
        guard let step = steps.first else { return new }
        let path = path.isEmpty ? step : "\(path).\(step)"
        var members = members ?? []
        if let index = members.firstIndex(where: { $0.key == step }) {
            members[index].value = members[index].value.setting(steps.dropFirst(), to: new)
        } else {
            let empty = PositionedValue(.object([]), at: new.position, path: path)
            members.append(
                Member(key: step, keyPosition: new.position, value: empty.setting(steps.dropFirst(), to: new)))
        }
        return PositionedValue(.object(members), at: position, path: self.path)
    }
}

extension SourcePosition {
    /// The place of problems that concern the file as a whole, such as that it is not there.
    package static let wholeFile = SourcePosition(line: 0, column: 0)

    /// The place of the override with this index: it is not in the file.
    static func override(_ index: Int) -> SourcePosition { SourcePosition(line: 0, column: index + 1) }

    /// Which override the place means; nil for a place in the file.
    package var overrideIndex: Int? { line == 0 && column > 0 ? column - 1 : nil }
}
