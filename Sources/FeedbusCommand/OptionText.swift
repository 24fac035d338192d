// feedbus: a plugin and its options as text for people.

import FeedbusBase
import FeedbusPlugin

enum OptionText {
    /// The plugin with all its options.
    static func describe(_ plugin: PluginDescription) -> String {
        var text = "\(plugin.name), a \(plugin.kind.rawValue)\n\(HelpText.wrapped(plugin.summary, indent: ""))\n\n"
        if let form = plugin.form.flatMap(form) { text += HelpText.wrapped(form, indent: "") + "\n\n" }
        text += plugin.options.isEmpty ? "It has no options.\n" : "Options of \"with\":\n"
        return text + plugin.options.map { describe($0, indent: "  ") }.joined()
    }

    /// What is special about the way in which a stage is wired.
    private static func form(_ form: StageForm) -> String? {
        switch form {
        case .one(allowsWorkers: false): nil
        case .one(allowsWorkers: true): "Several instances may share its work: \"workers\" of the node."
        case .join: "It reads at least two nodes; their order in \"from\" counts."
        case .routing: "Other nodes read one of its routes, \"<node>.<route>\", or the rest, \"<node>.unmatched\"."
        }
    }

    private static func describe(_ option: OptionSummary, indent: String) -> String {
        var facts = [kind(option.kind)]
        if option.isRequired { facts.append("required") }
        if let text = option.defaultText { facts.append("default \(text)") }
        var text = "\(indent)\(option.name): \(facts.joined(separator: "; "))\n"
        let inner = indent + "    "
        text += inner + HelpText.wrapped(option.help, indent: inner) + "\n"
        if let example = option.example, example != option.defaultText {
            text += "\(inner)example: \"\(option.name)\": \(example)\n"
        }
        for nested in nestedOptions(option.kind) { text += describe(nested, indent: inner) }
        return text
    }

    private static func nestedOptions(_ kind: OptionKind) -> [OptionSummary] {
        switch kind {
        case .object(let options): options
        case .either(let kinds): kinds.flatMap(nestedOptions)
        case .list(let element), .map(let element): nestedOptions(element)
        default: []
        }
    }

    /// `whole number, 1 to 100`
    static func kind(_ kind: OptionKind) -> String {
        switch kind {
        case .string: return "text"
        case .boolean: return "true or false"
        case .integer(let range):
            return range.upperBound == .max
                ? "whole number from \(range.lowerBound)"
                : "whole number from \(range.lowerBound) to \(range.upperBound)"
        case .duration(let range): return "duration from \"\(range.lowerBound.text)\" to \"\(range.upperBound.text)\""
        case .size(let range):
            return "size from \"\(ByteSize.text(range.lowerBound))\" to \"\(ByteSize.text(range.upperBound))\""
        case .choice(let words): return words.map { "\"\($0)\"" }.joined(separator: " or ")
        case .secret: return "secret, { \"secret\": \"env:NAME\" } or { \"secret\": \"file:PATH\" }"
        case .pointer: return "JSON pointer"
        case .url: return "http or https URL"
        case .list(let element): return "list of \(OptionText.kind(element))"
        case .object(let options): return options.isEmpty ? "object" : "object with the options below"
        case .map(let element): return "object of names, each with \(OptionText.kind(element))"
        case .json(_, let words): return words
        case .either(let kinds): return kinds.map { OptionText.kind($0) }.joined(separator: ", or ")
        }
    }
}
