// feedbus: an example of a source: the incidents of a status page.

import FeedbusPlugin

public struct StatusPageOptions: PluginOptions {
    var url = "https://www.githubstatus.com"
    var every: Duration = .seconds(120)

    public init() {}

    public static let options: [Option<StatusPageOptions>] = [
        .url("url", \.url, help: "the status page", example: "\"https://www.githubstatus.com\""),
        .duration(
            "every", \.every, in: .seconds(1)...Duration.seconds(86_400),
            help: "from the start of one poll to the start of the next", example: "\"5m\""),
    ]
}

/// Polls a page made with Statuspage and emits each incident when it appears and when it changes.
public actor StatusPage: Source {
    public static let name = "StatusPage"
    public static let summary = "incidents of a status page, each when it appears and when it changes"

    public nonisolated let context: PluginContext
    private let url: String
    private let every: Duration
    private var validators: Validators?
    /// Which revision of which incident was in the last answer.
    private var known: Set<String> = []

    private static let type = "com.statuspage.incident"

    public init(options: StatusPageOptions, context: PluginContext) {
        self.context = context
        url = options.url + "/api/v2/incidents.json"
        every = options.every
    }

    public static func headline(of event: Event) -> String? {
        guard event.origin.type == Bytes(type), let data = try? JSON.parse(event.data) else { return nil }
        return "\(data["name"]?.string ?? "incident"): \(data["status"]?.string ?? "unknown")"
    }

    public func run(_ output: Output) async throws {
        // What was saved last, by this run of the program or an earlier one.
        if let saved = try await context.cursor(), let value = try? JSON.parse(saved) {
            known = Set(value["known"]?.elements.compactMap(\.string) ?? [])
            validators = value["validators"].flatMap { Validators(json: $0.raw) }
        }
        let mode = context.mode
        let poller = Poller(
            every: every, once: mode.once, immediate: mode.once || mode.offline, clock: context.clock,
            log: context.log, seed: context.seed)
        try await poller.run { try await self.poll(output) }
    }

    private func poll(_ output: Output) async throws -> PollResult? {
        // Waits for budgets, sends the validators, retries by the node's policy. What the closure throws is retried too.
        let fetched = try await context.http.fetch(HTTPRequest(url), validators: validators) { response in
            guard let incidents = try JSON.parse(response.body)["incidents"], incidents.kind == .array else {
                throw FeedbusError("statuspage.shape", "the answer has no list \"incidents\"", isRetriable: true)
            }
            return incidents
        }
        // Nil after a 304: nothing new.
        if let incidents = fetched.value {
            try await emit(incidents, fetched, output)
        }
        validators = fetched.validators
        return PollResult(minimumWait: fetched.minimumWait)
    }

    private func emit(_ incidents: JSONValue, _ fetched: Fetched<JSONValue>, _ output: Output) async throws {
        let origin = EventOrigin(
            source: url, type: Self.type, node: context.node, recorded: fetched.response.recorded)
        var listed: Set<String> = []
        var news: [Event] = []
        for incident in incidents.elements {
            guard let id = incident["id"]?.string, let changed = incident["updated_at"]?.string else { continue }
            // The same incident at the same state has the same id on every poll.
            let revision = "\(id)@\(changed)"
            listed.insert(revision)
            guard !known.contains(revision) else { continue }
            news.append(
                Event(
                    origin: origin, id: Bytes(revision), subject: Bytes(id), time: Bytes(changed),
                    data: incident.minified))
        }
        // The page lists the newest first. The cursor is saved when the events are safe, and not before.
        try await output.emit(
            news.reversed(), saving: [CursorUpdate("cursor", cursor(listed, fetched.validators))])
        known = listed
    }

    private func cursor(_ known: Set<String>, _ validators: Validators) -> Bytes {
        let names = known.sorted().map { JSON.quote($0).string }.joined(separator: ",")
        return Bytes("{\"known\":[\(names)],\"validators\":\(validators.json.string)}")
    }
}
