// feedbus: finds the command that the arguments name and has it do its work.

import FeedbusBase
import FeedbusRuntime

/// The command line as a function: arguments in, texts and exit code (or a plan to run) out.
struct CommandLineTool {
    static let commands = [
        AnyCommand(RunCommand.self), AnyCommand(CheckCommand.self), AnyCommand(ListCommand.self),
        AnyCommand(DescribeCommand.self), AnyCommand(SchemaCommand.self), AnyCommand(TestCommand.self),
        AnyCommand(StateCommand.self), AnyCommand(ReplayCommand.self), AnyCommand(VersionCommand.self),
        AnyCommand(HelpCommand.self),
    ]

    let input: CommandInput

    /// - Parameter arguments: without the program's name.
    func perform(_ arguments: [String]) -> CommandOutcome {
        guard let first = arguments.first else { return .done(code: 2, err: HelpText.short(Self.commands)) }
        if first == "--help" || first == "-h" { return .done(out: HelpText.program(Self.commands)) }
        if first == "--version" { return .done(out: VersionCommand.text) }
        let name = Self.name(first)
        let rest = first.hasPrefix("-") ? arguments : Array(arguments.dropFirst())
        do throws(UsageError) {
            return try Self.command(name).perform(rest, input)
        } catch {
            let known = name != HelpCommand.name && Self.commands.contains { $0.name == name }
            return .done(code: 2, err: error.text(command: known ? name : nil))
        }
    }

    /// The name of the command that the first argument means: `feedbus --config FILE` is `feedbus run --config FILE`.
    static func name(_ first: String) -> String { first.hasPrefix("-") ? RunCommand.name : first }

    /// The command of that name.
    static func command(_ name: String) throws(UsageError) -> AnyCommand {
        if let command = commands.first(where: { $0.name == name }) { return command }
        // A file rather than a command: that is how other programs of this kind are called.
        let suggestion = name.hasSuffix(".json") ? "--config \(name)" : nearestName(to: name, in: commands.map(\.name))
        throw UsageError("unknown command \"\(name)\"", suggestion: suggestion)
    }
}
