// feedbus: a mistake in how the program was called.

import FeedbusRuntime

/// Shown on stderr; the exit code is 2.
struct UsageError: Error {
    var message: String
    /// The name that was probably meant.
    var suggestion: String?

    init(_ message: String, suggestion: String? = nil) {
        self.message = message
        self.suggestion = suggestion
    }

    /// The lines for stderr.
    /// - Parameter command: the command whose help to point at; nil for the program as a whole.
    func text(command: String?) -> String {
        let hint = suggestion.map { "; did you mean \($0)?" } ?? ""
        return "feedbus: \(LogText.oneLine(message + hint))\nTry \"feedbus \(command.map { $0 + " " } ?? "")--help\".\n"
    }
}
