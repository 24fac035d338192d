// feedbus: tests of the source Jokes.

import FeedbusPlugin
import Testing

@testable import JokesPlugin

@Suite struct JokeTests {
    private func read(_ service: JokeService, _ body: String) throws -> JokeAnswer {
        try JokeAnswer(HTTPResponse(status: 200, body: Bytes(body), url: "u"), from: service)
    }

    private func joke(_ service: JokeService, _ body: String) throws -> Joke {
        guard case .joke(let joke) = try read(service, body) else {
            throw FeedbusError(FeedbusError.Code("test"), "refused")
        }
        return joke
    }

    @Test func whatTheServiceSentStaysAndTheRestComesBehind() throws {
        let body =
            "{\"categories\": [\"dev\"], \"id\": \"A_-b\", \"url\": \"http:\\/\\/x\", \"value\": \"It\\u0027s 1.\"}"
        let joke = try joke(.chucknorris, body)
        #expect(joke.id == "A_-b" && joke.value == "It's 1.")
        #expect(joke.data.string == minified(Bytes(body)).string.dropLast() + ",\"languageCode\":\"en\"}")
    }

    @Test func theFirstFormHadNoCategories() throws {
        #expect(
            try joke(.chucknorris, "{\"id\":\"a\",\"value\":\"v\"}").data
                == "{\"id\":\"a\",\"value\":\"v\",\"categories\":[],\"languageCode\":\"en\"}")
        #expect(
            try joke(.chucknorris, "{\"category\":[\"dev\"],\"id\":\"a\",\"value\":\"v\"}").data.string
                .contains("\"categories\":[\"dev\"]"))
        #expect(
            try joke(.chucknorris, "{\"category\":null,\"id\":\"a\",\"value\":\"v\"}").data.string
                .contains("\"categories\":[]"))
    }

    @Test func dadJokes() throws {
        #expect(
            try joke(.icanhazdadjoke, "{\"id\":\"R7\",\"joke\":\"Ha.\",\"status\":200}").data
                == "{\"id\":\"R7\",\"joke\":\"Ha.\",\"status\":200,\"value\":\"Ha.\",\"categories\":[],\"languageCode\":\"en\"}"
        )
        guard case .refused("not found") = try read(.icanhazdadjoke, "{\"message\":\"not found\",\"status\":404}")
        else {
            Issue.record("a status in the body counts")
            return
        }
    }

    @Test func jokesOfTwoParts() throws {
        let two = try joke(
            .jokeapi,
            "{\"error\":false,\"category\":\"Pun\",\"type\":\"twopart\",\"setup\":\"A?\",\"delivery\":\"B.\",\"id\":58,\"lang\":\"en\"}"
        )
        #expect(two.id == "58" && two.value == "A?\nB.")
        #expect(two.data.string.hasSuffix("\"value\":\"A?\\nB.\",\"categories\":[\"Pun\"],\"languageCode\":\"en\"}"))
        #expect(two.data.string.contains("\"id\":58,"))
        let official = try joke(.official, "[{\"type\":\"general\",\"setup\":\"A?\",\"punchline\":\"B.\",\"id\":1}]")
        #expect(official.id == "1" && official.value == "A?\nB.")
        #expect(official.data.string.contains("\"categories\":[\"general\"]"))
    }

    @Test func jokesOfOtherLanguagesHaveOtherIDs() throws {
        let german = try joke(
            .jokeapi, "{\"category\":\"Pun\",\"type\":\"single\",\"joke\":\"Ha.\",\"id\":0,\"lang\":\"de\"}")
        #expect(german.id == "de-0" && german.data.string.hasSuffix("\"languageCode\":\"de\"}"))
    }

    @Test func anErrorWithStatus200IsNoJoke() throws {
        let none =
            "{\"error\":true,\"internalError\":false,\"code\":106,\"message\":\"No matching joke found\",\"additionalInfo\":\"No jokes.\"}"
        guard case .refused("No matching joke found No jokes.") = try read(.jokeapi, none) else {
            Issue.record("error: true is a refusal")
            return
        }
        // The server's own trouble may pass.
        #expect(throws: FeedbusError.self) {
            try read(.jokeapi, "{\"error\":true,\"internalError\":true,\"code\":100,\"message\":\"Internal\"}")
        }
    }

    @Test(arguments: [
        "[]", "7", "{}", "{\"id\":\"a\"}", "{\"value\":\"v\"}", "{\"id\":\"\",\"value\":\"v\"}",
        "{\"id\":\"a\",\"value\":\"\"}",
        "{\"id\":\"a\",\"value\":null}", "<html>", "",
    ])
    func whatIsNoJokeIsRefused(_ body: String) {
        #expect(throws: FeedbusError.self) { try read(.chucknorris, body) }
    }

    @Test func addresses() {
        func url(_ text: String) -> String { options(JokesOptions.self, text).url }
        #expect(url("{}") == "https://api.chucknorris.io/jokes/random")
        #expect(url("{\"category\": \"dev,movie\"}") == "https://api.chucknorris.io/jokes/random?category=dev,movie")
        #expect(url("{\"service\": \"icanhazdadjoke\"}") == "https://icanhazdadjoke.com/")
        #expect(url("{\"service\": \"jokeapi\"}") == "https://v2.jokeapi.dev/joke/Any")
        #expect(url("{\"service\": \"jokeapi\", \"category\": \"Pun\"}") == "https://v2.jokeapi.dev/joke/Pun")
        #expect(url("{\"service\": \"official\"}") == "https://official-joke-api.appspot.com/random_joke")
        #expect(
            url("{\"service\": \"official\", \"category\": \"general\"}")
                == "https://official-joke-api.appspot.com/jokes/general/random")
        #expect(url("{\"base_url\": \"http://127.0.0.1:8080/\"}") == "http://127.0.0.1:8080/jokes/random")
    }
}

@Suite struct JokesTests {
    private static let random = "https://api.chucknorris.io/jokes/random"

    private static func joke(_ id: String) -> String {
        "{\"categories\":[],\"id\":\"\(id)\",\"value\":\"Joke \(id).\\nHa.\"}"
    }

    @Test func oneJokeAPollEachOnce() throws {
        try onStage { stage in
            stage.service.on(
                Self.random, Self.joke("a"), Self.joke("a"), Self.joke("b"), Self.joke("a"), Self.joke("c"))
            try await stage.run(Jokes.self, options(JokesOptions.self, "{}"), for: .seconds(55))
            #expect(stage.ids == ["a", "b", "c"])
            let event = try #require(stage.events.first)
            #expect(event.origin.type == "io.chucknorris.joke" && event.origin.source == Bytes(Self.random))
            #expect(event.time == "2026-03-01T12:00:00Z")
            #expect(Jokes.headline(of: event) == "Joke a. / Ha.")
            #expect(stage.service.requests.allSatisfy { $0.headers["Accept"] == "application/json" })
        }
    }

    @Test func aTranslatedJokeIsShownTranslated() {
        let origin = EventOrigin(source: "s", type: "io.chucknorris.joke", node: "n")
        let event = Event(origin: origin, id: "a", data: "{\"value\":\"Ha.\",\"translatedValue\":\"Ja.\"}")
        #expect(Jokes.headline(of: event) == "Ja.")
        let other = Event(origin: EventOrigin(source: "s", type: "x", node: "n"), id: "a", data: "{\"value\":\"Ha.\"}")
        #expect(Jokes.headline(of: other) == nil)
    }

    @Test func countCountsWhatWasEmitted() throws {
        try onStage { stage in
            stage.service.on(Self.random, Self.joke("a"), Self.joke("a"), Self.joke("b"), Self.joke("c"))
            let two = options(JokesOptions.self, "{\"count\": 2}")
            try await stage.run(Jokes.self, two, for: .seconds(300))
            #expect(stage.ids == ["a", "b"] && stage.service.urls.count == 3)
        }
    }

    @Test func aJokeIsToldOncePerState() throws {
        try onStage { stage in
            stage.service.on(Self.random, Self.joke("a"), Self.joke("a"), Self.joke("b"))
            for _ in 0..<3 { try await stage.once(Jokes.self, options(JokesOptions.self, "{}")) }
            #expect(stage.ids == ["a", "b"] && stage.service.urls.count == 3)
        }
    }

    @Test func aMissedJokeIsCountedAndNoFakeOneComes() throws {
        try onStage { stage in
            stage.service.on(Self.random, failing(404, "No jokes for category x found."))
            try await stage.once(Jokes.self, options(JokesOptions.self, "{}"))
            #expect(stage.events.isEmpty)
            #expect(stage.log().count == 1)
            #expect(stage.log()[0].contains("No jokes for category x found.") && stage.log()[0].contains("missed: 1"))
        }
    }

    @Test func itIsAskedAgainByTheNodesPolicy() throws {
        try onStage { stage in
            stage.service.on(
                Self.random, failing(500), { request, _ in reply("<html>", to: request) },
                { request, _ in reply(Self.joke("a"), to: request) })
            try await stage.once(Jokes.self, options(JokesOptions.self, "{}"), retry: RetryPolicy(attempts: 3))
            #expect(stage.ids == ["a"] && stage.service.urls.count == 3)
        }
    }

    @Test func aRefusalIsNotAskedAgainAtSpeed() throws {
        try onStage { stage in
            stage.service.on(
                "https://v2.jokeapi.dev/joke/Any",
                "{\"error\":true,\"code\":106,\"message\":\"No matching joke found\"}")
            let api = options(JokesOptions.self, "{\"service\": \"jokeapi\"}")
            try await stage.once(Jokes.self, api, retry: RetryPolicy(attempts: 5))
            #expect(stage.service.urls.count == 1 && stage.log().count == 1)
            stage.forget()
            try await stage.run(Jokes.self, api, for: .seconds(200))
            #expect(stage.service.urls.count == 1)
            #expect(stage.log(.error).contains { $0.contains("No matching joke found") })
        }
    }
}

@Suite(.enabled(if: SharedData.exists, SharedData.missing))
struct JokeRecordingsTests {
    private func answer(_ service: JokeService, _ body: Bytes, status: Int = 200) throws -> JokeAnswer {
        try JokeAnswer(HTTPResponse(status: status, body: body, url: "u"), from: service)
    }

    private func check(_ service: JokeService, _ body: Bytes) throws {
        guard case .joke(let joke) = try answer(service, body) else {
            Issue.record("refused")
            return
        }
        let original = minified(body).string
        #expect(joke.data.string.hasPrefix(original.dropLast()))
        let data = try JSON.parse(joke.data)
        for key in ["id", "value", "categories", "languageCode"] { #expect(data[key] != nil) }
        #expect(data["value"]?.string == joke.value && data["categories"]?.kind == .array)
    }

    @Test(arguments: SharedData.files(in: "jokes/chucknorris").filter { !$0.contains("error") })
    func chuckNorris(_ file: String) throws { try check(.chucknorris, try SharedData.read(file)) }

    @Test func theErrorBodyIsNoJoke() throws {
        let body = try SharedData.read("jokes/chucknorris/index17449049627__error-404-category.json")
        #expect(throws: FeedbusError.self) { try answer(.chucknorris, body, status: 404) }
    }

    @Test func dadJoke() throws {
        try check(.icanhazdadjoke, try SharedData.read("jokes/icanhazdadjoke/site-docs__random.json"))
    }

    @Test func aSearchIsNoJoke() throws {
        let body = try SharedData.read("jokes/icanhazdadjoke/brad-dow__search-write.json")
        #expect(throws: FeedbusError.self) { try answer(.icanhazdadjoke, body) }
    }

    @Test func jokeAPI() throws {
        try check(.jokeapi, try SharedData.read("jokes/jokeapi/docs__01-joke.json"))
        for name in ["docs__03-langcode", "docs__05-submission"] {
            let body = try SharedData.read("jokes/jokeapi/\(name).json")
            #expect(throws: FeedbusError.self) { try answer(.jokeapi, body) }
        }
    }

    @Test(arguments: [("source__jokes-en.safe.json", 93), ("source__jokes-es.safe.json", 6)])
    func everyJokeOfJokeAPI(_ name: String, _ count: Int) throws {
        let jokes = try #require(JSON.parse(try SharedData.read("jokes/jokeapi/\(name)"))["jokes"])
        #expect(jokes.count == count)
        for joke in jokes.elements { try check(.jokeapi, joke.raw) }
    }

    @Test func everyOfficialJoke() throws {
        let jokes = try JSON.parse(try SharedData.read("jokes/official-joke-api/source__jokes-first-half.json"))
        #expect(jokes.count == 225)
        for joke in jokes.elements { try check(.official, joke.raw) }
        try check(.official, try SharedData.read("jokes/official-joke-api/tamnd__random.json"))
    }
}
