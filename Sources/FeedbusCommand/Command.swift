// feedbus: what a command of the command line is.

import FeedbusBase
import FeedbusPlugin
import FeedbusRuntime

/// What a command may use of the outside.
struct CommandInput: Sendable {
    var registry: PluginRegistry
    var environment: [String: String]
    var files: FileAccess
    var outIsTerminal = false
    var errIsTerminal = false

    /// True where text for that stream may be coloured (https://no-color.org).
    func mayColor(_ isTerminal: Bool) -> Bool {
        isTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }
}

/// What is left to do once a command has done its work.
enum CommandOutcome {
    /// Print and exit.
    case done(code: Int32 = 0, out: String = "", err: String = "")
    /// Print to stderr, then run the plan.
    case run(Plan, RunOptions, err: String)
    /// Write to stdout bit by bit; what takes the bits returns false when nobody reads them any more. An error goes to
    /// stderr, with exit code 1.
    case stream(@Sendable (_ write: (Bytes) -> Bool) throws -> Void)
}

/// A command: a struct with a default for everything that the arguments may set.
protocol Command: Sendable {
    init()
    static var name: String { get }
    /// One line for the list of commands.
    static var summary: String { get }
    /// Further lines for the command's own help.
    static var details: String { get }
    static var options: [CommandOption<Self>] { get }
    static var operand: CommandOperand<Self>? { get }
    func perform(_ input: CommandInput) throws(UsageError) -> CommandOutcome
}

extension Command {
    static var details: String { "" }
    static var options: [CommandOption<Self>] { [] }
    static var operand: CommandOperand<Self>? { nil }
}

/// A command of any type.
struct AnyCommand: Sendable {
    let name: String
    let summary: String
    let help: String
    let perform: @Sendable ([String], CommandInput) throws(UsageError) -> CommandOutcome

    init<C: Command>(_ type: C.Type) {
        name = C.name
        summary = C.summary
        help = HelpText.command(type)
        perform = { arguments, input throws(UsageError) in
            guard let command = try ArgumentParser<C>().parse(arguments) else {
                return .done(out: HelpText.command(C.self))
            }
            return try command.perform(input)
        }
    }
}
