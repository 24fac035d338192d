// feedbus: the source EONET.

public import FeedbusPlugin
import Polling

/// Emits the natural events that NASA's Earth Observatory Natural Event Tracker lists, and their categories.
public actor EONET: PollingSource {
    public static let name = "EONET"
    public static let summary = "natural events of NASA's EONET: wildfires, storms, volcanoes, ice"

    public nonisolated let context: PluginContext
    private let options: EONETOptions
    private let http: PoliteClient
    private var categories: CategoryMemory
    private var revisions = RevisionMemory()
    private var origins: [Bool: EventOrigin] = [:]
    private var failed = 0
    /// By the request's key, and of the list of categories: what cannot be had is not asked for at speed.
    private var rests: [String: Rest] = [:]
    private var unusable = 0

    private static let categoryType = "gov.nasa.eonet.category"
    private static let eventType = "gov.nasa.eonet.event"
    private static let categoriesKey = "categories"
    private static let eventsKey = "events"

    public init(options: EONETOptions, context: PluginContext) {
        self.context = context
        self.options = options
        http = context.http.with(revalidateAfter: options.revalidateAfter)
        categories = CategoryMemory(url: "\(options.baseURL)/categories", saved: nil)
    }

    public static func headline(of event: Event) -> String? {
        let type = event.origin.type.string
        guard type == eventType || type == categoryType, let data = try? JSON.parse(event.data) else { return nil }
        let title = trimmed(data["title"]?.string ?? "")
        if type == categoryType { return "category \(title)" }
        let names = data["categories"]?.elements.compactMap { $0["title"]?.string }.map(trimmed) ?? []
        let isClosed = data["closed"].map { !$0.isNull } ?? false
        return (names.isEmpty ? "" : names.joined(separator: ", ") + ": ") + title + (isClosed ? " (closed)" : "")
    }

    /// Titles may end in a blank.
    private static func trimmed(_ text: String) -> String {
        var text = text[...]
        while text.last?.isWhitespace == true { text.removeLast() }
        while text.first?.isWhitespace == true { text.removeFirst() }
        return String(text)
    }

    public nonisolated var every: Duration { options.every }

    public nonisolated var service: PollService { PollService(request(options.baseURL + "/events")) }

    public func prepare() async throws {
        origins = [:]
        rests = [:]
        categories = CategoryMemory(
            url: "\(options.baseURL)/categories", saved: try await context.savedText(Self.categoriesKey))
        revisions = RevisionMemory(saved: try await context.savedText(Self.eventsKey))
    }

    public func poll(_ output: Output) async throws -> PollResult? {
        let startedAt = context.clock.now
        let wait = try await pollCategories(startedAt, output)
        return PollResult(minimumWait: max(wait, try await pollEvents(startedAt, output)))
    }

    private nonisolated func request(_ url: String) -> HTTPRequest {
        HTTPRequest(
            url, headers: ["Accept": "application/json"], timeout: options.timeout, maxBody: options.maxBody)
    }

    // MARK: - Categories

    /// A failure is reported and counts as an empty list: the events still come, with their own titles where no earlier
    /// answer gave better ones.
    private func pollCategories(_ startedAt: Instant, _ output: Output) async throws -> Duration {
        guard rests[Self.categoriesKey]?.isOver(at: startedAt) ?? true else { return .zero }
        let url = "\(options.baseURL)/categories"
        let fetched: Fetched<CategoriesAnswer>
        do {
            fetched = try await http.fetch(request(url), validators: categories.validators) { try CategoriesAnswer($0) }
        } catch {
            try Task.checkCancellation()
            failed += 1
            context.log.warning(
                "no categories: \(describeError(error)); the events come without them", ["failed": String(failed)])
            rest(Self.categoriesKey, "categories", from: startedAt)
            return .zero
        }
        rests[Self.categoriesKey] = nil
        var next = categories
        var news: [Event] = []
        if let answer = fetched.value {
            report(answer.unusable, "categories")
            let origin = EventOrigin(
                source: url, type: Self.categoryType, node: context.node, recorded: answer.isRecorded)
            let wanted = options.categories
            news = next.take(answer).filter { wanted?.contains($0.category.id) ?? true }.map { item in
                Event(
                    origin: origin, id: Bytes("\(item.category.id)@\(item.category.revision)"),
                    subject: Bytes(item.category.id), data: item.data, attributes: item.attributes)
            }
            if fetched.revalidates(categories.validators) && !news.isEmpty { http.reportStuckValidator(url) }
        }
        next.keep(fetched.validators)
        if next.differs(from: categories) {
            try await output.emit(news, saving: [CursorUpdate(Self.categoriesKey, next.saved)])
        }
        categories = next
        return fetched.minimumWait
    }

    // MARK: - Events

    /// Requests that fail leave the others alone, and each answer is emitted as it comes; where all fail, the poll has
    /// failed.
    private func pollEvents(_ startedAt: Instant, _ output: Output) async throws -> Duration {
        if options.by == .category && categories.categories.isEmpty {
            context.log.warning("no categories are known; the events are asked for by status")
        }
        let queries = EventsQuery.all(options, categories: categories.categories)
        let asked = queries.filter { rests[restKey($0)]?.isOver(at: startedAt) ?? true }
        let requests = asked.map { (request: request($0.url), validators: revisions.validators(for: $0)) }
        let http = http
        var done = 0
        var wait = Duration.zero
        var failures: [(query: EventsQuery, error: any Error)] = []
        try await context.concurrently(requests, limit: options.maxConcurrent) { asked in
            try await http.fetch(asked.request, validators: asked.validators) { try EventsAnswer($0) }
        } take: { index, result in
            let query = asked[index]
            done += 1
            if options.by == .category { reportProgress(query, done, of: asked.count, result) }
            switch result {
            case .success(let fetched):
                wait = max(wait, fetched.minimumWait)
                rests[restKey(query)] = nil
                try await emit(fetched, of: query, output)
            case .failure(let error):
                failures.append((query, error))
                failed += 1
                context.log.warning(
                    "no \(query.name): \(describeError(error)); what else was asked for goes on",
                    ["failed": String(failed)])
            }
        }
        // A failure of all is the poller's to handle.
        if let first = failures.first, failures.count == asked.count { throw first.error }
        for failure in failures {
            rest(restKey(failure.query), failure.query.name, from: startedAt)
        }
        var next = revisions
        next.forget(allBut: queries)
        try await emit([], next, output)
        return wait
    }

    private func restKey(_ query: EventsQuery) -> String { "events/\(query.key)" }

    private func rest(_ key: String, _ name: String, from startedAt: Instant) {
        let pause = rests[key, default: Rest()].failed(at: startedAt, every: options.every)
        if !context.mode.once { context.log.info("\(name): not asked for in the next \(pause.text)") }
    }

    private func emit(_ fetched: Fetched<EventsAnswer>, of query: EventsQuery, _ output: Output) async throws {
        var next = revisions
        var news: [NaturalEvent] = []
        if let answer = fetched.value {
            report(answer.unusable, query.name)
            news = next.take(answer.events.filter(isWanted), of: query)
            if fetched.revalidates(revisions.validators(for: query)) && !news.isEmpty {
                http.reportStuckValidator(query.url)
            }
        }
        next.keep(fetched.validators, for: query)
        try await emit(news, next, output)
    }

    private func emit(_ news: [NaturalEvent], _ next: RevisionMemory, _ output: Output) async throws {
        if next.differs(from: revisions) {
            let titles = categories.titles
            try await output.emit(
                news.map { event($0, titles) }, saving: [CursorUpdate(Self.eventsKey, next.saved)])
        }
        revisions = next
    }

    /// The service is known to return other categories than those asked for.
    private func isWanted(_ event: NaturalEvent) -> Bool {
        guard let wanted = options.categories else { return true }
        return event.categoryIDs.contains(where: wanted.contains)
    }

    private func event(_ event: NaturalEvent, _ titles: [String: String]) -> Event {
        let origin =
            origins[event.isRecorded]
            ?? EventOrigin(
                source: "\(options.baseURL)/events", type: Self.eventType, node: context.node,
                recorded: event.isRecorded)
        origins[event.isRecorded] = origin
        return Event(
            origin: origin, id: Bytes("\(event.id)@\(event.revision)"), subject: Bytes(event.id), time: event.time,
            data: event.data(titles: titles), attributes: event.attributes)
    }

    private func reportProgress(
        _ query: EventsQuery, _ done: Int, of count: Int, _ result: Result<Fetched<EventsAnswer>, any Error>
    ) {
        let found =
            switch result {
            case .success(let fetched): fetched.value.map { "events: \($0.events.count)" } ?? "nothing new"
            case .failure: "failed"
            }
        context.log.info("\(done) of \(count): \(query.name), \(found)")
    }

    private func report(_ count: Int, _ what: String) {
        guard count > 0 else { return }
        unusable += count
        context.log.warning(
            "left out of the \(what), as they are no objects with an id: \(count)",
            ["unusable": String(unusable)])
    }
}
