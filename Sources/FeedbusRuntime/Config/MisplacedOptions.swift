// feedbus: options that exist, but elsewhere.

import FeedbusBase
import FeedbusJSON
import FeedbusPlugin

/// Tells where an unknown option of a node belongs: beside `with`, into `with`, or into nodes of another section.
struct MisplacedOptions {
    private let node: ConfigNode
    private let plugin: PluginDescription?
    // Only looked at where there is a problem, which most nodes of a large config do not have.
    private var fields: Set<String> { Set(node.section.fields.map(\.name)) }
    private var options: Set<String> { Set(plugin?.options.map(\.name) ?? []) }

    init(node: ConfigNode, plugin: PluginDescription?) {
        self.node = node
        self.plugin = plugin
    }

    /// The problems of the node's fields or of its `with`, with better words for options in the wrong place.
    func explain(_ problems: [ConfigProblem]) -> [ConfigProblem] {
        problems.filter { !isElsewhere($0) }.map { problem in
            guard problem.code == "unknown-option", let hint = hint(for: problem.path) else { return problem }
            var copy = problem
            copy.message += ": \(hint)"
            copy.suggestion = nil
            return copy
        }
    }

    private func hint(for path: String) -> String? {
        let parent = path.split(separator: ".").dropLast().joined(separator: ".")
        guard let name = path.split(separator: ".").last.map(String.init) else { return nil }
        if parent == node.value.path + ".with" {
            return fields.contains(name) ? "it belongs beside \"with\"" : nil
        }
        guard parent == node.value.path else { return nil }
        if let plugin, options.contains(name) { return "it is an option of \(plugin.name) and belongs into \"with\"" }
        let others = NodeSection.allCases.filter { $0.fields.contains { $0.name == name } }.map(\.rawValue)
        return others.isEmpty ? nil : "only \(others.joined(separator: ", ")) have it"
    }

    /// True for a required option that is there, but beside `with`.
    private func isElsewhere(_ problem: ConfigProblem) -> Bool {
        guard problem.code == "missing-option" else { return false }
        let (fields, options) = (fields, options)
        let beside = (node.value.members ?? []).map(\.key).filter { !fields.contains($0) }
        return beside.contains { options.contains($0) && problem.message.hasPrefix("missing option \"\($0)\"") }
    }
}
