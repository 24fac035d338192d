// feedbus: what a service answers when it is asked for a joke.

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
