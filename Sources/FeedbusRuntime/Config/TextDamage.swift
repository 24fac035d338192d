// feedbus: what mistakes in the text of a config mean for the checks of its content.

import FeedbusJSON

/// Keeps a mistake in the text from being reported again as what follows from it.
struct TextDamage {
    /// Mistakes that lose nothing of what was written.
    private static let harmless: Set = [
        "bom", "invalid-utf8", "odd-blank", "bad-comment", "single-quotes", "control-character", "bad-escape",
        "bad-number", "bare-word", "bare-key", "trailing-comma", "missing-comma", "extra-comma", "missing-colon",
        "duplicate-key",
    ]
    /// Mistakes after which a value is a guess.
    private static let guesses: Set = [
        "invalid-utf8", "control-character", "bad-escape", "bad-number", "bare-word", "unterminated-string",
    ]
    /// Errors about what is not there.
    private static let absences: Set = ["missing-option", "reads-nobody"]

    /// False where parts of the config may be missing from the value: what is not there is then no error.
    let isComplete: Bool
    private let guessed: Set<String>

    init(_ problems: [ConfigProblem]) {
        isComplete = problems.allSatisfy { Self.harmless.contains($0.code) && !Self.losesNodes($0) }
        guessed = Set(problems.lazy.filter { Self.guesses.contains($0.code) }.map(\.path))
    }

    /// True where a problem of the content only repeats one of the text.
    func hides(_ problem: ConfigProblem) -> Bool {
        guessed.contains(problem.path) || (!isComplete && Self.absences.contains(problem.code))
    }

    /// A second section, node or `from` of one name is left out of the value.
    private static func losesNodes(_ problem: ConfigProblem) -> Bool {
        guard problem.code == "duplicate-key" else { return false }
        let steps = problem.path.split(separator: ".")
        return steps.count < 3 || steps[2] == "from"
    }
}
