// feedbus: the source TrendingRepos.

public import FeedbusPlugin
import GitHubAPI
import Polling

/// Emits the repositories that a search ranks highest, and their newest events.
public actor TrendingRepos: PollingSource {
    public static let name = "TrendingRepos"
    public static let summary = "the repositories that a GitHub search ranks highest, and their newest events"

    public nonisolated let context: PluginContext
    private let options: TrendingReposOptions
    private let gitHub: GitHubService
    private let http: PoliteClient
    private var ranking = Ranking()
    private var searchValidators: Validators?
    private var events: NewestEvents
    private var maker: GitHubEventMaker
    private var origins: [Bool: EventOrigin] = [:]
    private var unusable = 0
    /// By repository: those whose events cannot be had are not asked for at speed.
    private var rests: [String: Rest] = [:]

    private static let type = "com.github.repository.trending"
    private static let rankingKey = "ranking"
    private static let eventsKey = "events"

    public init(options: TrendingReposOptions, context: PluginContext) {
        self.context = context
        self.options = options
        gitHub = options.service
        http = context.http.with(revalidateAfter: options.revalidateAfter)
        events = NewestEvents(limit: options.seenLimit, saved: nil)
        maker = GitHubEventMaker(node: context.node)
    }

    public static func headline(of event: Event) -> String? {
        guard event.origin.type == Bytes(type) else { return EventHeadline.text(of: event) }
        guard let data = try? JSON.parse(event.data), let name = data["full_name"]?.string else { return nil }
        let stars = data["stargazers_count"]?.int.map { " ★ \($0)" } ?? ""
        return "#\(data["rank"]?.raw.string ?? "?") \(name)\(stars)"
    }

    public nonisolated var every: Duration { options.every }

    public nonisolated var service: PollService { PollService(gitHub.request(options.requestURL)) }

    public func prepare() async throws {
        ranking = Ranking()
        searchValidators = nil
        if let saved = try await context.savedText(Self.rankingKey), let known = Ranking(json: saved["ranking"]) {
            // Another search has another ranking; another size of it has other validators.
            ranking = saved["search"]?.string == options.searchURL ? known : known.emptied
            if saved["request"]?.string == options.requestURL {
                searchValidators = Validators(saved: saved["validators"])
            }
        }
        rests = [:]
        events = NewestEvents(limit: options.seenLimit, saved: try await context.savedText(Self.eventsKey))
    }

    public func poll(_ output: Output) async throws -> PollResult? {
        let startedAt = context.clock.now
        let wait = try await search(output)
        return PollResult(minimumWait: max(wait, try await pollEvents(startedAt, output)))
    }

    // MARK: - Repositories

    private func search(_ output: Output) async throws -> Duration {
        // Emitting at every poll needs a whole answer every time.
        let validators = options.on == .poll ? nil : searchValidators
        let fetched = try await http.fetch(
            gitHub.request(options.requestURL), validators: validators, resource: "search"
        ) { try SearchPage($0) }
        var next = ranking
        let changes = fetched.value.map { next.take($0, limit: options.limit, everything: options.on == .poll) } ?? []
        if let page = fetched.value {
            if page.isPartial {
                context.log.info("the search ran out of time: its answer of \(page.repositories.count) is not complete")
            }
            if page.unusable > 0 { report(page.unusable, "what the search found") }
            if fetched.revalidates(validators) && !changes.isEmpty { http.reportStuckValidator(options.requestURL) }
        }
        if next != ranking || !fetched.validators.isSame(as: searchValidators) {
            let news = fetched.value.map { page in changes.map { event($0, of: page, next) } } ?? []
            try await output.emit(news, saving: [CursorUpdate(Self.rankingKey, saved(next, fetched.validators))])
        }
        ranking = next
        searchValidators = fetched.validators
        return fetched.minimumWait
    }

    private func event(_ change: Ranking.Change, of page: SearchPage, _ ranking: Ranking) -> Event {
        let origin =
            origins[page.isRecorded]
            ?? EventOrigin(source: options.searchURL, type: Self.type, node: context.node, recorded: page.isRecorded)
        origins[page.isRecorded] = origin
        var attributes = change.repository.attributes
        if page.isPartial { attributes.append(Event.Attribute(name: "partial", value: "true")) }
        return Event(
            origin: origin, id: Bytes(ranking.eventID(change)), subject: Bytes(change.repository.name),
            time: Bytes(context.clock.wallTime.rfc3339()),
            data: JSONEdit.append([("rank", Bytes(String(change.rank)))], to: change.repository.value),
            attributes: attributes)
    }

    private func saved(_ ranking: Ranking, _ validators: Validators) -> Bytes {
        SavedText.make([
            (key: "search", value: JSON.quote(options.searchURL)),
            (key: "request", value: JSON.quote(options.requestURL)),
            (key: "ranking", value: ranking.json), (key: "validators", value: validators.json),
        ])
    }

    // MARK: - Their events

    private func pollEvents(_ startedAt: Instant, _ output: Output) async throws -> Duration {
        guard options.eventsPerRepo > 0, !ranking.entries.isEmpty else { return .zero }
        let names = ranking.entries.map(\.name)
        rests = rests.filter { names.contains($0.key) }
        let asked = names.filter { rests[$0]?.isOver(at: startedAt) ?? true }
        let (gitHub, http, known, count) = (gitHub, http, events.validators, options.eventsPerRepo)
        var results: [Int: Result<Fetched<EventsPage>, any Error>] = [:]
        try await context.concurrently(asked, limit: options.maxConcurrent) { name in
            let url = gitHub.eventsURL(repository: name) + "?per_page=\(count)"
            return try await http.fetch(gitHub.request(url), validators: known[name]) {
                try EventsPage($0, service: gitHub)
            }
        } take: { index, result in
            results[index] = result
        }

        var pages: [(source: String, page: EventsPage)] = []
        var fresh: [String: Validators] = [:]
        var failures: [(name: String, error: any Error)] = []
        var wait = Duration.zero
        for (index, name) in asked.enumerated() {
            switch results[index] {
            case .success(let fetched)?:
                rests[name] = nil
                fresh[name] = fetched.validators
                wait = max(wait, fetched.minimumWait)
                guard var page = fetched.value else { continue }
                if page.unusable > 0 { report(page.unusable, "the events of \(name)") }
                page.events = Array(page.events.prefix(count))
                let source = gitHub.eventsURL(repository: name)
                if fetched.revalidates(known[name]), page.events.contains(where: { !events.seen.contains($0.id) }) {
                    http.reportStuckValidator(source)
                }
                pages.append((source, page))
            case .failure(let error)?:
                failures.append((name, error))
            case nil: break
            }
        }
        // A failure of all is the poller's to handle.
        let isWhole = failures.count == asked.count
        for failure in failures {
            var message = "no events of \(failure.name): \(describeError(failure.error))"
            if !isWhole && !context.mode.once {
                let pause = rests[failure.name, default: Rest()].failed(at: startedAt, every: options.every)
                message += "; the other repositories go on, this one rests for \(pause.text)"
            }
            context.log.warning(message)
        }
        if isWhole, let first = failures.first { throw first.error }

        var next = events
        next.forgetLists(allBut: names.map(gitHub.eventsURL(repository:)))
        let news = next.take(pages)
        let isKept = next.keep(fresh, of: names)
        let isChanged = isKept || next.listed != events.listed
        if isChanged || !news.isEmpty {
            try await output.emit(
                news.map { maker.event($0.event, source: $0.source) },
                saving: [CursorUpdate(Self.eventsKey, next.saved)])
        }
        events = next
        return wait
    }

    private func report(_ count: Int, _ what: String) {
        unusable += count
        context.log.warning("left out of \(what), as they have no id or name: \(count)", ["unusable": String(unusable)])
    }
}
