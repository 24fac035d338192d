// feedbus: which program to run, and what becomes of its lines.

import FeedbusPlugin

/// Options of a source or stage: a child whose lines are read.
public struct ExecOptions: PluginOptions {
    var command: [String]?
    /// Where the id of a line that is no CloudEvents object is found in it; nil: made of its place and content.
    var id: JSONPointer?
    var type = ExecOptions.lineType.string
    var maxLine = 16 << 20

    /// The type of events that a line alone makes.
    static let lineType: Bytes = "dev.feedbus.line"

    public init() {}

    public static let options: [Option<ExecOptions>] = [
        .strings(
            "command", \.command, required: true, pattern: "a string without NUL", accepts: isArgument,
            help: "the program and its arguments; run without a shell, in the config's folder",
            example: "[\"./tick.sh\", \"--fast\"]"
        ).synonyms("cmd", "args", "argv", "program"),
        .pointer("id", \.id, help: "where the id of a line that is no CloudEvents object is found; else one is made"),
        .string(
            "type", \.type, help: "the event type of lines that are no CloudEvents objects",
            example: "\"org.example.tick\""),
        .size(
            "max_line", \.maxLine, in: 64...(1 << 30), help: "longer lines are refused, and reported",
            example: "\"1MiB\""
        ),
    ]
}

/// Options of a sink: a child whose lines are written.
public struct ExecSinkOptions: PluginOptions {
    var command: [String]?

    public init() {}

    public static let options: [Option<ExecSinkOptions>] = [
        .strings(
            "command", \.command, required: true, pattern: "a string without NUL", accepts: isArgument,
            help: "the program and its arguments; run without a shell, in the config's folder",
            example: "[\"./store.py\"]"
        ).synonyms("cmd", "args", "argv", "program")
    ]
}

/// An argument may be empty, but not hold the byte that ends it.
@Sendable private func isArgument(_ text: String) -> Bool { !text.utf8.contains(0) }

/// A program that does not exist is found before anything starts.
func checkProgram(_ command: [String]?, _ checking: OptionCheck) {
    guard let program = command?.first, checking.findProgram(program) == nil else { return }
    let place = program.contains("/") ? "is not there, or is not executable" : "is not in the PATH"
    checking.problem("the program \"\(program)\" \(place)", at: "command", code: "no-program")
}

extension PluginContext {
    /// The command as a child is started by it: a relative program counts from the config's folder, as the child does.
    func child(_ command: [String], stdin: Bool, stdout: Bool) -> ChildCommand {
        var arguments = command
        if let program = arguments.first, program.contains("/") { arguments[0] = resolve(program) }
        return ChildCommand(arguments, workingDirectory: directory, stdin: stdin, stdout: stdout, stderr: true)
    }
}
