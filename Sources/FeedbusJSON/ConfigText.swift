// feedbus: the config dialect, JSON with comments, read so that every mistake is found in one run.

import FeedbusBase

/// RFC 8259 with `//` and `/* */` comments, and nothing else.
///
/// The reader goes on behind a mistake as a person would, so that one run finds all of them and what can be understood
/// is still there to be checked.
public enum ConfigText {
    /// So many mistakes of the text are listed at most; a file with more is no config.
    static let maximumProblems = 100

    /// Reads a config.
    /// - Returns: what could be read (nil where there is nothing), and all mistakes in the order of the text. The value is
    ///   right where `problems` is empty; else parts of it may be missing or guessed.
    ///
    /// Codes: `bom`, `encoding`, `empty`, `invalid-utf8`, `odd-blank`, `bad-comment`, `unterminated-comment`,
    /// `unterminated-string`, `single-quotes`, `control-character`, `bad-escape`, `bad-number`, `bare-word`, `bare-key`,
    /// `trailing-comma`, `missing-comma`, `extra-comma`, `missing-colon`, `missing-value`, `duplicate-key`,
    /// `unexpected`, `wrong-bracket`, `unclosed`, `content-after-end`, `too-deep`, `too-many`.
    public static func parse(_ text: Bytes) -> (value: PositionedValue?, problems: [ConfigProblem]) {
        text.withUnsafeBytes { bytes in
            var reader = ConfigReader(text: bytes)
            let value = reader.readText()
            // Sorting is stable: mistakes at one place keep the order in which they were found.
            return (value, reader.problems.sorted { $0.position < $1.position })
        }
    }
}
