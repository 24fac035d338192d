// feedbus: plugins with options of every kind, and nothing that runs.

import FeedbusPlugin

/// As the real one, so far as its options go.
struct StubJokesOptions: PluginOptions {
    enum Service: String, Sendable, CaseIterable { case chucknorris, icanhazdadjoke, official }

    var service = Service.chucknorris
    var every: Duration = .seconds(10)
    var count: Int?
    var category: String?

    static let options: [Option<StubJokesOptions>] = [
        .choice("service", \.service, help: "whose jokes"),
        .duration(
            "every", \.every, in: .seconds(1)...(.seconds(86_400)), help: "time between two polls", example: "\"1m\""
        )
        .synonyms("interval", "period"),
        .integer("count", \.count, in: 1...(.max), help: "complete after so many"),
        .string("category", \.category, help: "only these"),
    ]
}

actor StubJokes: Source {
    static let name = "Jokes"
    static let summary = "tells jokes"
    nonisolated let context: PluginContext

    init(options: StubJokesOptions, context: PluginContext) { self.context = context }

    func run(_ output: Output) async throws {}
}

struct StubEventsOptions: PluginOptions {
    var repo: String?
    var org: String?
    var perPage = 30
    var token: Secret?
    var types: [String]?

    static let options: [Option<StubEventsOptions>] = [
        .string("repo", \.repo, help: "owner and name"),
        .string("org", \.org, help: "an organisation"),
        .integer("per_page", \.perPage, in: 1...100, help: "events a page"),
        .secret("token", \.token, help: "sent as Authorization: Bearer"),
        .strings("types", \.types, orOne: true, help: "keep only these"),
    ]
}

actor StubEvents: Source {
    static let name = "GitHubEvents"
    static let summary = "polls events"
    nonisolated let context: PluginContext

    static func check(_ options: StubEventsOptions, _ checking: OptionCheck) {
        guard (options.repo == nil) == (options.org == nil) else { return }
        checking.problem("exactly one of \"repo\" and \"org\" is needed", at: nil, code: "exactly-one-of")
    }

    init(options: StubEventsOptions, context: PluginContext) { self.context = context }

    func run(_ output: Output) async throws {}
}

struct StubTakeOptions: PluginOptions {
    var count = 1

    static let options: [Option<StubTakeOptions>] = [.integer("count", \.count, in: 1...100, help: "how many")]
}

actor StubTake: Stage {
    static let name = "Take"
    static let summary = "passes the first events"
    nonisolated let context: PluginContext

    init(options: StubTakeOptions, context: PluginContext) { self.context = context }

    func transform(_ input: Flow<Event>) async throws -> Flow<Event> { input }
}

actor StubMap: ChunkStage {
    static let name = "Map"
    static let summary = "changes events"
    static let allowsWorkers = true
    nonisolated let context: PluginContext

    init(options: StubNullOptions, context: PluginContext) { self.context = context }

    func process(_ events: Chunk<Event>) async throws -> Chunk<Event> { events }
}

actor StubZip: JoinStage {
    static let name = "Zip"
    static let summary = "pairs"
    nonisolated let context: PluginContext

    init(options: StubNullOptions, context: PluginContext) { self.context = context }

    func transform(_ inputs: [StageInput]) async throws -> Flow<Event> { .merge(inputs.map(\.events)) }
}

actor StubConcat: JoinStage {
    static let name = "Concat"
    static let summary = "one after the other"
    static let readsInTurn = true
    nonisolated let context: PluginContext

    init(options: StubNullOptions, context: PluginContext) { self.context = context }

    func transform(_ inputs: [StageInput]) async throws -> Flow<Event> { .concat(inputs.map(\.events)) }
}

struct StubSwitchOptions: PluginOptions {
    var routes: [String] = []

    static let options: [Option<StubSwitchOptions>] = [
        .custom(
            "routes", \.routes, kind: .object([]), required: true, help: "where events go", show: { _ in nil },
            read: { value, _ in
                value.members.map { .value($0.map(\.key)) }
                    ?? .problems([value.problem("no routes", code: "wrong-type")])
            })
    ]
}

actor StubSwitch: RoutingStage {
    static let name = "Switch"
    static let summary = "sends events on routes"
    nonisolated let context: PluginContext

    static func routes(of options: StubSwitchOptions) -> [String] { options.routes }

    init(options: StubSwitchOptions, context: PluginContext) { self.context = context }

    func route(_ events: Chunk<Event>) async throws -> [Chunk<Event>] { [events, []] }
}

struct StubFileOptions: PluginOptions {
    var path = ""

    static let options: [Option<StubFileOptions>] = [
        .string("path", \.path, required: true, help: "the file", example: "\"out/log.jsonl\"").synonyms("file")
    ]
}

actor StubFile: Sink {
    static let name = "JSONLines"
    static let summary = "appends to a file"
    nonisolated let context: PluginContext

    static func check(_ options: StubFileOptions, _ checking: OptionCheck) {
        checking.claim(file: options.path, at: "path")
    }

    init(options: StubFileOptions, context: PluginContext) { self.context = context }

    func write(_ events: Chunk<Event>) async throws {}
}

struct StubNullOptions: PluginOptions {
    static let options: [Option<StubNullOptions>] = []
}

actor StubNull: Sink {
    static let name = "Null"
    static let summary = "throws events away"
    nonisolated let context: PluginContext

    init(options: StubNullOptions, context: PluginContext) { self.context = context }

    func write(_ events: Chunk<Event>) async throws {}
}

extension PluginRegistry {
    static var stubs: PluginRegistry {
        var registry = PluginRegistry()
        registry.add(StubJokes.self)
        registry.add(StubEvents.self)
        registry.add(StubTake.self)
        registry.add(StubMap.self)
        registry.add(StubZip.self)
        registry.add(StubConcat.self)
        registry.add(StubSwitch.self)
        registry.add(StubFile.self)
        registry.add(StubNull.self)
        return registry
    }
}
