// feedbus: who translates a text.

import FeedbusPlugin

/// Translates single texts.
protocol Translator: Sendable {
    /// Called before the first text: throws when no text can ever be translated, with what to do about it.
    func prepare(from: String, to: String) async throws

    /// - Throws: `FeedbusError`; trying again is this method's business.
    func translate(_ text: String, from: String, to: String) async throws -> String

    /// No more texts will come.
    func close() async
}
