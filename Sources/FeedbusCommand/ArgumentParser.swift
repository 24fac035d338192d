// feedbus: reads the arguments of a command by its declarations.

import FeedbusBase

/// Reads `--option value`, `--option=value`, `--flag`, at most one operand, and `--`, behind which nothing is an option.
struct ArgumentParser<C: Command> {
    /// The command with what the arguments set; nil where they ask for help.
    func parse(_ arguments: [String]) throws(UsageError) -> C? {
        if arguments.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) { return nil }
        var command = C()
        var given: Set<String> = []
        var hasOperand = false
        var rest = arguments[...]
        var onlyOperands = false
        while let argument = rest.popFirst() {
            if argument == "--" && !onlyOperands {
                onlyOperands = true
            } else if argument.hasPrefix("-") && argument != "-" && !onlyOperands {
                try read(argument, &rest, into: &command, &given)
            } else {
                guard let operand = C.operand else {
                    throw UsageError(
                        "\(C.name) takes no argument \"\(argument)\"",
                        suggestion: C.options.contains { $0.name == "--config" } ? "--config \(argument)" : nil)
                }
                guard !hasOperand else { throw UsageError("one \(operand.name) too many: \"\(argument)\"") }
                command[keyPath: operand.path] = argument
                hasOperand = true
            }
        }
        if let operand = C.operand, operand.isRequired, !hasOperand {
            throw UsageError("\(C.name) needs \(operand.name): \(operand.help)")
        }
        return command
    }

    private func read(
        _ argument: String, _ rest: inout ArraySlice<String>, into command: inout C, _ given: inout Set<String>
    ) throws(UsageError) {
        let mark = argument.firstIndex(of: "=")
        let name = String(argument[..<(mark ?? argument.endIndex)])
        guard let option = C.options.first(where: { $0.name == name }) else {
            throw UsageError(
                "unknown option \(name) of \(C.name)",
                suggestion: nearestName(to: name, in: C.options.map(\.name) + ["--help"]))
        }
        guard given.insert(name).inserted || option.isRepeatable else { throw UsageError("\(name) is given twice") }
        let attached = mark.map { String(argument[argument.index(after: $0)...]) }
        guard let value = option.value else {
            guard attached == nil else { throw UsageError("\(name) takes no value") }
            return try option.assign(&command, "")
        }
        if let attached { return try option.assign(&command, attached) }
        guard let next = rest.first, !next.hasPrefix("--") else { throw UsageError("\(name) needs a value: \(value)") }
        rest.removeFirst()
        try option.assign(&command, next)
    }
}
