// feedbus: a joke, whichever service told it.

import FeedbusPlugin
import Polling

/// One joke.
struct Joke: Sendable {
    let id: String
    let value: String
    /// What the service sent, in its order, and at the end those of `id`, `value`, `categories` and `languageCode` that
    /// it did not send.
    let data: Bytes
    let attributes: [Event.Attribute]
    let isRecorded: Bool

    /// Nil where there is no text or no id.
    init?(_ object: JSONValue, from service: JokeService, body: JSONBody) {
        guard let number = object["id"]?.identifier, let text = Joke.text(object, service) else { return nil }
        let language = object["lang"]?.string.flatMap { $0.isEmpty ? nil : $0 } ?? "en"
        // JokeAPI numbers the jokes of each language from 0.
        id = language == "en" ? number : "\(language)-\(number)"
        value = text

        let wanted: [(key: String, value: Bytes)] = [
            ("id", JSON.quote(number)), ("value", JSON.quote(text)), ("categories", Joke.categories(object)),
            ("languageCode", JSON.quote(language)),
        ]
        data = JSONEdit.append(wanted.filter { object[$0.key] == nil }, to: object)
        attributes = body.attributes(of: data)
        isRecorded = body.isRecorded
    }

    private static func text(_ object: JSONValue, _ service: JokeService) -> String? {
        func part(_ key: String) -> String? { object[key]?.string.flatMap { $0.isEmpty ? nil : $0 } }
        switch service {
        case .chucknorris: return part("value")
        case .icanhazdadjoke: return part("joke")
        case .jokeapi:
            if let joke = part("joke") { return joke }
            return part("setup").flatMap { setup in part("delivery").map { "\(setup)\n\($0)" } }
        case .official: return part("setup").flatMap { setup in part("punchline").map { "\(setup)\n\($0)" } }
        }
    }

    /// `category` is a list or null in chucknorris.io's first answers, a text in JokeAPI's; official's is the `type`.
    private static func categories(_ object: JSONValue) -> Bytes {
        let category = object["category"] ?? object["type"]
        switch category?.kind {
        case .array: return category?.raw ?? "[]"
        case .string: return SavedText.array([category?.raw ?? "null"])
        default: return "[]"
        }
    }
}
