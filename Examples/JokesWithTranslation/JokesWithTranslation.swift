// feedbus: example program: jokes, in the reader's language.

import Feedbus

/// Asks for a joke again and again, translates those in another language, and tells each once.
package struct JokesWithTranslation: Sendable {
    /// Translates a text from one language to another, both as codes such as `en` or `es-MX`.
    package typealias Translate = @Sendable (_ text: String, _ from: String, _ to: String) async throws -> String

    let app: App
    /// The reader's language.
    let language: String
    let every: Duration
    let translate: Translate

    package init(_ app: App, language: String, every: Duration = .seconds(10), translate: @escaping Translate) {
        self.app = app
        self.language = language
        self.every = every
        self.translate = translate
    }

    package func run() async throws {
        try await jokes().collect { jokes in
            for joke in jokes { try await app.print("[\(joke.language)] \(joke.text)") }
        }
    }

    /// One joke for each tick; each joke once.
    package func jokes() -> Flow<Joke> {
        ticks()
            .concatMap { _ in joke() }
            .distinct(remember: 5_000, by: \.id)
            .concatMap { translated($0) }
    }

    /// The first at once. While a joke is fetched and told, ticks are left out.
    private func ticks() -> Flow<Int> {
        app.once ? .just(0) : Flow.interval(every, clock: app.clock).startWith(0)
    }

    /// A joke, at the second try if need be; words in place of one that cannot be had, so that the next tick gets its turn.
    private func joke() -> Flow<Joke> {
        app.fetch(HTTPRequest("https://api.chucknorris.io/jokes/random")) { try Joke($0) }
            .retry(attempts: 2)
            .replaceError(with: Joke(id: "none", text: "No joke today.", language: language))
    }

    /// A joke that needs no translation, or gets none, goes on as it is.
    private func translated(_ joke: Joke) -> Flow<Joke> {
        if primary(joke.language) == primary(language) { return .just(joke) }
        return Flow.just(joke)
            .mapAsync { joke in
                Joke(id: joke.id, text: try await translate(joke.text, joke.language, language), language: language)
            }
            .timeout(.seconds(10), clock: app.clock)
            .catch { error in
                app.log.warning("not translated: \(describeError(error))")
                return .just(joke)
            }
    }

    /// `es` of `es-MX`: what two readers need to understand each other.
    private func primary(_ language: String) -> Substring { language.prefix { $0 != "-" && $0 != "_" } }
}

/// One joke.
package struct Joke: Sendable, Hashable {
    let id: String
    package let text: String
    package let language: String

    init(id: String, text: String, language: String) {
        self.id = id
        self.text = text
        self.language = language
    }

    /// - Throws: `JSONError`, or `FeedbusError` for an answer without a joke.
    init(_ answer: HTTPResponse) throws {
        let value = try JSON.parse(answer.body)
        guard let id = value["id"]?.string, let text = value["value"]?.string else {
            throw FeedbusError(.httpDecode, "the answer holds no joke", isRetriable: true)
        }
        self.init(id: id, text: text, language: value["language"]?.string ?? "en")
    }
}
