// feedbus: config problems as text for people and as JSON for editors.

import FeedbusBase
import FeedbusJSON
import FeedbusPlugin

/// Shows the problems of one config file.
package struct ProblemText: Sendable {
    /// The file as the user gave it.
    package var file: String
    package var overrides: [Override]
    package var color: Bool

    package init(file: String, overrides: [Override] = [], color: Bool = false) {
        self.file = file
        self.overrides = overrides
        self.color = color
    }

    /// One line each, `config.json:12:17: error: …`, in the form that compilers use and editors read.
    package func lines(_ problems: [ConfigProblem]) -> String {
        problems.map { line($0) + "\n" }.joined()
    }

    private func line(_ problem: ConfigProblem) -> String {
        let suggestion = problem.suggestion.map { "; did you mean \"\($0)\"?" } ?? ""
        let words = LogText.oneLine(problem.message + suggestion)
        let severity = paint(problem.severity.rawValue + ":", problem.severity == .error ? "1;31" : "1;33")
        return "\(paint(place(of: problem) + ":", "1")) \(severity) \(words)"
    }

    private func place(of problem: ConfigProblem) -> String {
        if let index = problem.position.overrideIndex { return "--set " + LogText.oneLine(overrides[index].path) }
        return problem.position == .wholeFile
            ? file : "\(file):\(problem.position.line):\(problem.position.column)"
    }

    private func paint(_ text: String, _ style: String) -> String {
        color ? "\u{1B}[\(style)m\(text)\u{1B}[0m" : text
    }

    /// `3 errors in config.json`
    package func summary(_ problems: [ConfigProblem]) -> String {
        func count(_ severity: ConfigProblem.Severity) -> String? {
            let count = problems.count { $0.severity == severity }
            return count == 0 ? nil : "\(count) \(severity.rawValue)\(count == 1 ? "" : "s")"
        }
        let counts = [count(.error), count(.warning)].compactMap { $0 }.joined(separator: " and ")
        return "\(counts.isEmpty ? "no problems" : counts) in \(file)"
    }

    /// A JSON list of `{file, line, column, severity, code, path, message, suggestion}`, one object a line.
    package func json(_ problems: [ConfigProblem]) -> String {
        guard !problems.isEmpty else { return "[]\n" }
        return "[\n" + problems.map { "  " + object($0) }.joined(separator: ",\n") + "\n]\n"
    }

    private func object(_ problem: ConfigProblem) -> String {
        // Editors want a place for everything: what concerns the file as a whole stands at its beginning.
        let line = max(problem.position.line, 1)
        let column = max(problem.position.column, 1)
        let fields = [
            ("file", jsonText(file)), ("line", String(line)), ("column", String(column)),
            ("severity", jsonText(problem.severity.rawValue)), ("code", jsonText(problem.code)),
            ("path", jsonText(problem.path)), ("message", jsonText(problem.message)),
            ("suggestion", problem.suggestion.map(jsonText) ?? "null"),
        ]
        return "{" + fields.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
    }
}
