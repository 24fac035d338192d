// feedbus: the source GitHubEvents.

public import FeedbusPlugin
import GitHubAPI
import Polling

/// Emits the events of repositories, an organisation, a user or all of GitHub, each once, oldest first.
public actor GitHubEvents: PollingSource {
    public static let name = "GitHubEvents"
    public static let summary = "events of GitHub repositories, organisations and users, each once"

    public nonisolated let context: PluginContext
    private let options: GitHubEventsOptions
    private let gitHub: GitHubService
    private let http: PoliteClient
    private let types: Set<String>?
    private var lists: [EventList] = []
    private var maker: GitHubEventMaker
    private var gaps = 0
    private var unusable = 0

    public init(options: GitHubEventsOptions, context: PluginContext) {
        self.context = context
        self.options = options
        gitHub = options.service
        http = context.http.with(revalidateAfter: options.revalidateAfter)
        types = options.types.map { Set($0) }
        maker = GitHubEventMaker(node: context.node)
    }

    public static func check(_ options: GitHubEventsOptions, _ checking: OptionCheck) {
        let given = options.subjects
        guard given.count != 1 else { return }
        let found = given.isEmpty ? "none" : given.map { "\"\($0)\"" }.joined(separator: " and ")
        checking.problem(
            "exactly one of \"repo\", \"repos\", \"org\", \"user\" and \"public\" must be given, found \(found)",
            code: given.isEmpty ? "missing-option" : "conflicting-options")
    }

    public static func headline(of event: Event) -> String? { EventHeadline.text(of: event) }

    public nonisolated var every: Duration { options.every }

    public nonisolated var service: PollService { PollService(gitHub.request(options.lists[0])) }

    public func prepare() async throws {
        lists = []
        for url in options.lists {
            lists.append(
                EventList(
                    url: url, perPage: options.perPage, maxPages: options.maxPages,
                    saved: try await context.savedText(url)))
        }
    }

    /// Polls every list in turn; one that fails leaves the others alone.
    public func poll(_ output: Output) async throws -> PollResult? {
        var result = PollResult()
        var failures: [(index: Int, error: any Error)] = []
        var polled = 0
        for index in lists.indices where lists[index].rest.isOver(at: context.clock.now) {
            polled += 1
            do {
                let wait = try await poll(index, output)
                result.minimumWait = max(result.minimumWait, wait)
                lists[index].rest.succeeded()
            } catch {
                try Task.checkCancellation()
                failures.append((index, error))
            }
        }
        // A failure of all is the poller's to handle, and the last word where there is only one poll.
        if let first = failures.first, failures.count == polled || context.mode.once {
            for other in failures.dropFirst() { context.log.error(describeError(other.error)) }
            throw first.error
        }
        for failure in failures {
            let pause = lists[failure.index].rest.failed(at: context.clock.now, every: options.every)
            context.log.error(
                "\(describeError(failure.error)); the other lists go on, this one rests for \(pause.text)")
        }
        return result
    }

    /// Polls one list and emits what is new. Returns how long the service asks to be left alone.
    private func poll(_ index: Int, _ output: Output) async throws -> Duration {
        let list = lists[index]
        let gitHub = gitHub
        var pages = EventsPages(known: list.seen, maxPages: options.maxPages)
        let first = try await http.fetch(gitHub.request(list.firstPage), validators: list.validators) {
            try EventsPage($0, service: gitHub)
        }
        var wait = first.minimumWait
        var next = first.value.flatMap { pages.add($0) }
        while let url = next {
            let page = try await http.fetch(gitHub.request(url), accept: [EventsPage.pastTheEnd]) {
                try EventsPage($0, service: gitHub)
            }
            wait = max(wait, page.minimumWait)
            next = page.value.flatMap { pages.add($0) }
        }
        let news = pages.news
        report(pages, of: list)
        if first.revalidates(list.validators) && !news.isEmpty { http.reportStuckValidator(list.firstPage) }

        var wanted = news.filter { types?.contains($0.type) ?? true }[...]
        if list.isNew { wanted = options.history.limit(Array(wanted)) }
        var after = list.after(pages.listedIDs, first.validators)
        if after.differs(from: list) {
            try await output.emit(
                wanted.map { maker.event($0, source: list.url) }, saving: [CursorUpdate(list.url, after.saved)])
        }
        after.unusable = pages.unusable
        lists[index] = after
        return wait
    }

    private func report(_ pages: EventsPages, of list: EventList) {
        if pages.hasGap {
            gaps += 1
            // The events of all of GitHub have a gap at every poll: reported each time the count has doubled.
            let isNews = !options.isPublic || gaps & (gaps - 1) == 0
            context.log.log(
                isNews ? .warning : .debug,
                "gap: none of the \(pages.news.count) events that can still be had was known, so events before them are lost",
                ["url": list.url, "gaps": String(gaps)])
        }
        // An element stays in the list for long: it is not reported at every poll.
        if pages.unusable > 0 && pages.unusable != list.unusable {
            unusable += pages.unusable
            context.log.warning(
                "left out of the list, as they are no objects with an id: \(pages.unusable)",
                ["url": list.url, "unusable": String(unusable)])
        }
        if let link = pages.foreignLink {
            context.log.warning("the next page is \(link), and was not asked for", ["url": list.url])
        }
    }
}
