// feedbus: a joke, whichever service told it.

import FeedbusPlugin
import Polling

/// A service's answer: a joke, or the service's word that it has none.
enum JokeAnswer: Sendable {
    case joke(Joke)
    /// Asking again would not help. The service's own words.
    case refused(String)

    /// - Throws: where the answer is neither; it may be another one next time.
    init(_ response: HTTPResponse, from service: JokeService) throws {
        let body = try JSONBody(response)
        // Some addresses of official-joke-api give a list of one.
        let value = body.root.kind == .array ? body.root.elements.first { _ in true } ?? body.root : body.root
        guard value.kind == .object else {
            throw FeedbusError.shape("the answer is no joke, but \(value.kind.rawValue)")
        }
        if let refusal = try JokeAnswer.refusal(value, of: service) {
            self = .refused(refusal)
            return
        }
        guard let joke = Joke(value, from: service, body: body) else {
            throw FeedbusError.shape("the answer has no joke in it")
        }
        self = .joke(joke)
    }

    /// Errors that come with status 200: JokeAPI's `"error": true`, and the status that icanhazdadjoke repeats.
    private static func refusal(_ value: JSONValue, of service: JokeService) throws -> String? {
        switch service {
        case .jokeapi:
            guard value["error"]?.bool == true else { return nil }
            let words = [value["message"]?.string, value["additionalInfo"]?.string].compactMap(\.self)
            let text = words.isEmpty ? "error \(value["code"]?.raw.string ?? "")" : words.joined(separator: " ")
            if value["internalError"]?.bool == true { throw FeedbusError.shape(text) }
            return text
        case .icanhazdadjoke:
            guard let status = value["status"]?.int, status != 200 else { return nil }
            let text = value["message"]?.string ?? "status \(status)"
            if status >= 500 { throw FeedbusError.shape(text) }
            return text
        case .chucknorris, .official: return nil
        }
    }
}

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
