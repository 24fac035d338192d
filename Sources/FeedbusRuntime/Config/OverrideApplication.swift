// feedbus: puts the values of --set into the tree of a config.

import FeedbusBase
import FeedbusJSON
import FeedbusPlugin

/// Looks up where an override goes: the option must be declared and the node must be there.
struct OverrideApplication {
    let registry: PluginRegistry

    private struct Misplaced: Error {
        var message: String
        var suggestion: String?
    }

    /// The tree with all overrides in it, in their order; those that have no place are problems.
    func apply(_ overrides: [Override], to root: PositionedValue) -> (PositionedValue, [ConfigProblem]) {
        var tree = root
        var problems: [ConfigProblem] = []
        for (index, override) in overrides.enumerated() {
            let position = SourcePosition.override(index)
            let steps = override.path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            do throws(Misplaced) {
                let kind = try optionKind(at: steps, in: tree)
                tree = tree.setting(steps[...], to: override.value(for: kind, at: position))
            } catch {
                problems.append(
                    ConfigProblem(
                        error.message, at: position, code: "unknown-path", path: override.path,
                        suggestion: error.suggestion))
            }
        }
        return (tree, problems)
    }

    /// The kind of the option at a path; nil where that cannot be known because the node's plugin is not.
    private func optionKind(at steps: [String], in tree: PositionedValue) throws(Misplaced) -> OptionKind? {
        switch steps[0] {
        case "feedbus": return try descend(.object(FeedbusSection.summaries), steps, from: 1)
        case "http": return try descend(.object(HTTPSection.summaries), steps, from: 1)
        default: break
        }
        guard let section = NodeSection(rawValue: steps[0]) else {
            throw misplaced("there is no section \"\(steps[0])\"", steps[0], in: ConfigSections.names)
        }
        let form = "a path such as \(section.rawValue).NAME.FIELD is needed"
        guard steps.count > 1 else { throw Misplaced(message: form) }
        let names = tree[section.rawValue]?.members?.map(\.key) ?? []
        guard names.contains(steps[1]) else {
            throw misplaced("there is no node \"\(steps[1])\" in \(section.rawValue)", steps[1], in: names)
        }
        guard steps.count > 2 else { throw Misplaced(message: form) }
        guard steps[2] == "with", steps.count > 3 else { return try descend(.object(section.fields), steps, from: 2) }
        guard let pluginKind = section.pluginKind,
            let name = tree[section.rawValue]?[steps[1]]?["plugin"]?.string
        else { return try descend(.object(section.fields), steps, from: 2) }
        guard let plugin = registry.plugin(name, pluginKind) else { return nil }
        return try descend(.object(plugin.options), steps, from: 3)
    }

    private func descend(_ kind: OptionKind, _ steps: [String], from index: Int) throws(Misplaced) -> OptionKind {
        var kind = kind
        for index in index..<max(index, steps.count) {
            let parent = steps[..<index].joined(separator: ".")
            guard let options = kind.objectOptions else {
                throw Misplaced(message: "\(parent) has no parts: it is set as a whole")
            }
            guard let option = options.first(where: { $0.name == steps[index] }) else {
                throw misplaced(
                    "there is no option \"\(steps[index])\" at \(parent)", steps[index], in: options.map(\.name))
            }
            kind = option.kind
        }
        guard steps.count > index else {
            throw Misplaced(message: "the section cannot be set as a whole; name an option")
        }
        return kind
    }

    private func misplaced(_ message: String, _ name: String, in names: [String]) -> Misplaced {
        Misplaced(message: message, suggestion: nearestName(to: name, in: names))
    }
}

extension OptionKind {
    /// The options of an object, also where it is one of several forms.
    fileprivate var objectOptions: [OptionSummary]? {
        switch self {
        case .object(let options): options
        case .either(let kinds): kinds.lazy.compactMap(\.objectOptions).first
        default: nil
        }
    }
}
