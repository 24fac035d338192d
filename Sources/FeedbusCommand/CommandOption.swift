// feedbus: the one declaration of a command's option, from which come parsing, --help and error messages.

import FeedbusBase

/// A key path that may be kept in a static list.
typealias OptionPath<Root, Value> = any WritableKeyPath<Root, Value> & Sendable

/// An option of a command: `--config FILE`.
struct CommandOption<Root: Sendable>: Sendable {
    /// With its dashes: `--config`.
    var name: String
    /// What stands for the value in help texts; nil for a flag.
    var value: String?
    var isRepeatable = false
    var help: String
    /// Puts the value into the command; empty for a flag.
    var assign: @Sendable (inout Root, String) throws(UsageError) -> Void

    static func flag(_ name: String, _ path: OptionPath<Root, Bool>, help: String) -> CommandOption {
        CommandOption(name: name, help: help) { root, _ throws(UsageError) in root[keyPath: path] = true }
    }

    static func text(_ name: String, _ path: OptionPath<Root, String?>, value: String, help: String) -> CommandOption {
        CommandOption(name: name, value: value, help: help) { root, text throws(UsageError) in
            guard !text.isEmpty else { throw UsageError("\(name) needs a value: \(value)") }
            root[keyPath: path] = text
        }
    }

    /// One of the raw values of an enumeration.
    static func choice<Choice: RawRepresentable & CaseIterable & Sendable>(
        _ name: String, _ path: OptionPath<Root, Choice?>, value: String, help: String
    ) -> CommandOption where Choice.RawValue == String {
        let words = Choice.allCases.map(\.rawValue)
        return CommandOption(name: name, value: value, help: "\(help): \(words.joined(separator: ", "))") {
            root, text throws(UsageError) in
            guard let choice = Choice(rawValue: text) else {
                throw UsageError(
                    "\(name): \"\(text)\" is none of \(words.joined(separator: ", "))",
                    suggestion: nearestName(to: text, in: words))
            }
            root[keyPath: path] = choice
        }
    }

    /// A duration above zero, with its unit.
    static func duration(_ name: String, _ path: OptionPath<Root, Duration?>, help: String) -> CommandOption {
        CommandOption(name: name, value: "DURATION", help: help) { root, text throws(UsageError) in
            guard let duration = Duration(text: text), duration > .zero else {
                throw UsageError("\(name): \"\(text)\" is no duration such as 500ms, 30s, 5m or 1h")
            }
            root[keyPath: path] = duration
        }
    }

    /// May be given several times.
    static func list<Element>(
        _ name: String, _ path: OptionPath<Root, [Element]>, value: String, help: String,
        read: @escaping @Sendable (String) -> Element?
    ) -> CommandOption {
        CommandOption(name: name, value: value, isRepeatable: true, help: help) { root, text throws(UsageError) in
            guard let element = read(text) else { throw UsageError("\(name): \"\(text)\" is not of the form \(value)") }
            root[keyPath: path].append(element)
        }
    }
}

/// An argument of a command that is no option: the FILE of `check FILE`.
struct CommandOperand<Root: Sendable>: Sendable {
    /// What stands for it in help texts.
    var name: String
    var isRequired: Bool
    var help: String
    var path: OptionPath<Root, String?>
}
