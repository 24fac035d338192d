// feedbus: feedbus help

struct HelpCommand: Command {
    var topic: String?

    static let name = "help"
    static let summary = "explain the program or a command"
    static let operand: CommandOperand<HelpCommand>? = CommandOperand(
        name: "COMMAND", isRequired: false, help: "the command to explain", path: \.topic)

    func perform(_ input: CommandInput) throws(UsageError) -> CommandOutcome {
        guard let topic else { return .done(out: HelpText.program(CommandLineTool.commands)) }
        return .done(out: try CommandLineTool.command(topic).help)
    }
}
