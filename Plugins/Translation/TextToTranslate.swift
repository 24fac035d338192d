// feedbus: where a text stands in an event's data, and where its translation goes.

import FeedbusPlugin

/// What there is to translate in an event.
struct TextToTranslate: Sendable {
    let data: JSONValue
    let text: String
    /// The language of the text: `languageCode` in the data, or else what the config says.
    let language: String
    private let saysLanguage: Bool

    /// Nil where there is nothing to do: no such text, or it is in that language already.
    init?(_ event: Event, text pointer: JSONPointer, from: String, to: String) {
        guard let data = try? JSON.parse(event.data), data.kind == .object, let text = data[pointer]?.string,
            text.unicodeScalars.contains(where: { !$0.properties.isWhitespace })
        else { return nil }
        let code = data["languageCode"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        let language = code ?? from
        guard !LanguageCodes.isSame(language, to) else { return nil }
        self.data = data
        self.text = text
        self.language = language
        saysLanguage = data["languageCode"] != nil
    }

    /// The data with the translation; everything else stays byte for byte.
    /// - Returns: nil where the object that `into` points into is missing.
    func translated(_ translation: String, into pointer: JSONPointer, to: String) -> Bytes? {
        var members: [(key: String, value: Bytes)] = [("translationLanguageCode", JSON.quote(to))]
        if !saysLanguage { members.append(("languageCode", JSON.quote(language))) }
        if pointer.tokens.count == 1 {
            members.insert((pointer.tokens[0].string, JSON.quote(translation)), at: 0)
            return JSONEdit.append(members, to: data)
        }
        guard let text = JSONEdit.set(pointer, to: JSON.quote(translation), in: data),
            let edited = try? JSON.parse(text)
        else { return nil }
        return JSONEdit.append(members, to: edited)
    }
}
