// feedbus: feedbus describe

import FeedbusBase
import FeedbusPlugin
import FeedbusRuntime

struct DescribeCommand: Command {
    var plugin: String?

    static let name = "describe"
    static let summary = "show the options of a plugin: type, range, default, example"
    static let operand: CommandOperand<DescribeCommand>? = CommandOperand(
        name: "NAME", isRequired: true, help: "the name of a plugin, as \"feedbus list\" shows it", path: \.plugin)

    func perform(_ input: CommandInput) throws(UsageError) -> CommandOutcome {
        let name = plugin ?? ""
        let found = input.registry.plugins.filter { $0.name == name }
        guard !found.isEmpty else {
            let names = input.registry.plugins.map(\.name)
            throw UsageError("unknown plugin \"\(name)\"", suggestion: nearestName(to: name, in: names))
        }
        return .done(out: found.map(OptionText.describe).joined(separator: "\n"))
    }
}
