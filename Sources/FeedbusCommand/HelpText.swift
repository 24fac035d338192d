// feedbus: help texts, from the declarations of the commands.

import FeedbusRuntime

enum HelpText {
    /// The help of the program.
    static func program(_ commands: [AnyCommand]) -> String {
        """
        feedbus polls feeds, shares and transforms their events, and delivers them, as a config says.

        Usage: feedbus [run] --config FILE [options]
               feedbus COMMAND [arguments]

        Commands:
        \(table(commands.map { ($0.name, $0.summary) }))
        "feedbus COMMAND --help" explains a command.

        Events go to stdout, logs to stderr. Exit codes: 0 a clean end; 1 a node failed for good, or events were
        left undelivered; 2 a mistake in the call or in the config.

        """
    }

    /// What is said to somebody who gave no arguments at all.
    static func short(_ commands: [AnyCommand]) -> String {
        """
        Usage: feedbus [run] --config FILE [options]
               feedbus COMMAND [arguments]
        Commands: \(commands.map(\.name).joined(separator: ", ")).
        "feedbus --help" tells more.

        """
    }

    /// The help of a command.
    static func command<C: Command>(_ type: C.Type) -> String {
        var usage = "Usage: feedbus \(C.name)"
        if let operand = C.operand { usage += operand.isRequired ? " \(operand.name)" : " [\(operand.name)]" }
        if !C.options.isEmpty { usage += " [options]" }
        var text = "\(usage)\n\n\(wrapped(C.summary, indent: ""))\n"
        if !C.details.isEmpty { text += "\n\(C.details)\n" }
        if let operand = C.operand { text += "\nArguments:\n\(table([(operand.name, operand.help)]))" }
        let options = C.options.map { option in
            (
                option.name + (option.value.map { " \($0)" } ?? ""),
                option.help + (option.isRepeatable ? " (may be given several times)" : "")
            )
        }
        return text + "\nOptions:\n\(table(options + [("--help", "show this help")]))"
    }

    /// Two columns; the second one is wrapped.
    static func table(_ rows: [(name: String, text: String)]) -> String {
        let width = (rows.map(\.name.count).max() ?? 0) + 2
        return rows.map { row in
            let name = "  " + row.name + String(repeating: " ", count: width - row.name.count)
            return name + wrapped(row.text, indent: String(repeating: " ", count: width + 2)) + "\n"
        }.joined()
    }

    /// Lines of at most 100 characters, all but the first one indented; room for the indent is kept in all of them.
    static func wrapped(_ text: String, indent: String) -> String {
        var lines: [String] = [""]
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            let last = lines[lines.count - 1]
            if last.isEmpty {
                lines[lines.count - 1] = String(word)
            } else if indent.count + last.count + 1 + word.count <= 100 {
                lines[lines.count - 1] += " \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines.joined(separator: "\n" + indent)
    }
}
