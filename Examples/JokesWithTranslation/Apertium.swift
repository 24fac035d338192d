// feedbus: example program: the local Apertium.

import Feedbus

/// Translates with the program `apertium` (Debian: apertium-eng-spa). A text takes a third of a second, since the program
/// is started for each; feedbus's own plugin keeps it running.
struct Apertium: Sendable {
    let host: any LoopHost

    /// - Throws: `FeedbusError` where there is no such program, or it does not know the languages.
    func translate(_ text: String, from: String, to: String) async throws -> String {
        let pair = "\(threeLetters(from))-\(threeLetters(to))"
        let child = try await host.spawn(ChildCommand(["apertium", "-u", pair], stderr: false))
        try await child.write(Bytes(text))
        child.closeInput()
        var translated = ""
        while let bytes = try await child.readOutput() { translated += bytes.string }
        guard await child.wait() == .code(0), !translated.isEmpty else {
            throw FeedbusError("apertium", "apertium does not translate \(pair)")
        }
        return translated.split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    /// Apertium's codes are those of ISO 639-3.
    private func threeLetters(_ code: String) -> String {
        let code = code.prefix { $0 != "-" && $0 != "_" }
        return ["en": "eng", "es": "spa", "ca": "cat", "fr": "fra", "pt": "por", "it": "ita"][String(code)]
            ?? String(code)
    }
}
