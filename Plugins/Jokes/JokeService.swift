// feedbus: the services that tell jokes.

import FeedbusPlugin

/// Where a service is, and what it calls things.
enum JokeService: String, Sendable, CaseIterable {
    case chucknorris, icanhazdadjoke, jokeapi, official

    var defaultBaseURL: String {
        switch self {
        case .chucknorris: "https://api.chucknorris.io"
        case .icanhazdadjoke: "https://icanhazdadjoke.com"
        case .jokeapi: "https://v2.jokeapi.dev"
        case .official: "https://official-joke-api.appspot.com"
        }
    }

    /// The CloudEvents type of its jokes.
    var eventType: String {
        switch self {
        case .chucknorris: "io.chucknorris.joke"
        case .icanhazdadjoke: "com.icanhazdadjoke.joke"
        case .jokeapi: "dev.jokeapi.joke"
        case .official: "com.appspot.official-joke-api.joke"
        }
    }

    var hasCategories: Bool { self != .icanhazdadjoke }

    /// The path of a random joke, with its query.
    func path(category: String?) -> String {
        switch self {
        case .chucknorris: "/jokes/random" + (category.map { "?category=\($0)" } ?? "")
        case .icanhazdadjoke: "/"
        case .jokeapi: "/joke/\(category ?? "Any")"
        case .official: category.map { "/jokes/\($0)/random" } ?? "/random_joke"
        }
    }

    /// The address without category and query: the `source` of its jokes.
    var sourcePath: String { String(path(category: nil).prefix { $0 != "?" }) }
}
