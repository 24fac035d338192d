// feedbus: feedbus list

import FeedbusPlugin

struct ListCommand: Command {
    static let name = "list"
    static let summary = "list the plugins that a config can name"

    func perform(_ input: CommandInput) throws(UsageError) -> CommandOutcome {
        let groups: [String] = PluginKind.allCases.compactMap { kind in
            let plugins = input.registry.plugins.filter { $0.kind == kind }
            guard !plugins.isEmpty else { return nil }
            let title = kind.section.prefix(1).uppercased() + kind.section.dropFirst()
            return "\(title):\n\(HelpText.table(plugins.map { ($0.name, $0.summary) }))"
        }
        return .done(out: groups.joined(separator: "\n") + "\n\"feedbus describe NAME\" shows the options of one.\n")
    }
}
