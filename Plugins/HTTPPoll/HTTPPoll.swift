// feedbus: the source HTTPPoll.

public import FeedbusPlugin
import Polling

/// Polls any JSON API that gives a list, and emits its items: each once, or again when it has changed.
public actor HTTPPoll: PollingSource {
    public static let name = "HTTPPoll"
    public static let summary = "the items of any JSON API, polled politely, each once or at every change"

    public nonisolated let context: PluginContext
    private let options: HTTPPollOptions
    private var memory = ItemMemory()
    private var validators: Validators?
    /// No poll has been completed yet, in this run or an earlier one.
    private var isNew = true
    private var gaps = 0
    private var unusable = 0

    public init(options: HTTPPollOptions, context: PluginContext) {
        self.context = context
        self.options = options
    }

    public static func check(_ options: HTTPPollOptions, _ checking: OptionCheck) {
        if options.fields.on == .change && options.fields.id == nil {
            checking.problem(
                "\"on\": \"change\" needs \"id\", as a changed item is known by it", at: "on", code: "missing-option")
        }
        if options.fields.token != nil,
            options.fields.headers.contains(where: { $0.name.lowercased() == "authorization" })
        {
            checking.problem(
                "\"token\" and the header Authorization say the same thing twice", at: "token",
                code: "conflicting-options")
        }
    }

    public nonisolated var every: Duration { options.every }

    public nonisolated var service: PollService { PollService(options.request(options.firstPage)) }

    /// Takes up where the last run ended.
    public func prepare() async throws {
        let saved = try await context.savedText(options.source)
        let known = ItemMemory(json: saved?["items"])
        memory = known ?? ItemMemory()
        isNew = known == nil
        // Validators belong to an address, and a choice of items to an answer: other options are another list.
        validators = saved?["page"]?.string == identity ? Validators(saved: saved?["validators"]) : nil
    }

    /// What the saved validators are of. Its hash, as the address may hold a secret.
    private var identity: String { Bytes(options.firstPage + "\n" + options.fields.items.description).contentHashText }

    public func poll(_ output: Output) async throws -> PollResult? {
        let options = options
        // Made anew each time: of thousands of feeds, nearly all sleep.
        let http = context.http.with(revalidateAfter: options.revalidateAfter)
        let firstPage = options.firstPage
        let first = try await http.fetch(options.request(firstPage), validators: validators) {
            try ItemsPage($0, options: options)
        }
        var wait = first.minimumWait
        guard let page = first.value else {
            try await finish([], memory, first.validators, output)
            return PollResult(minimumWait: wait)
        }
        var pages = ItemsPages(known: memory, options: options)
        var next = pages.add(page)
        while let url = next {
            let more = try await http.fetch(options.request(url)) { try ItemsPage($0, options: options) }
            wait = max(wait, more.minimumWait)
            next = more.value.flatMap { pages.add($0) }
        }
        report(pages)
        let news = pages.news
        if first.revalidates(validators) && !news.isEmpty { http.reportStuckValidator(options.source) }
        let wanted = isNew ? Array(options.fields.history.limit(news)) : news
        try await finish(wanted, memory.after(pages.keys, limit: options.fields.remember), first.validators, output)
        return PollResult(minimumWait: wait)
    }

    /// Emits, and saves where there is something to save.
    private func finish(
        _ items: [Item], _ memory: ItemMemory, _ validators: Validators, _ output: Output
    ) async throws {
        if isNew || !items.isEmpty || memory != self.memory || !validators.isSame(as: self.validators) {
            let cursor = SavedText.make([
                (key: "page", value: JSON.quote(identity)), (key: "items", value: memory.json),
                (key: "validators", value: validators.json),
            ])
            try await output.emit(events(items), saving: [CursorUpdate(options.source, cursor)])
        }
        self.memory = memory
        self.validators = validators
        isNew = false
    }

    private func events(_ items: [Item]) -> [Event] {
        // For one poll: what it emits shares it, and what sleeps need not have it.
        var origins: [Bool: EventOrigin] = [:]
        return items.map { item in
            let origin =
                origins[item.isRecorded]
                ?? EventOrigin(
                    source: options.source, type: options.fields.type, node: context.node, recorded: item.isRecorded)
            origins[item.isRecorded] = origin
            return Event(
                origin: origin, id: item.id, subject: item.subject, time: item.time, data: item.data,
                attributes: item.attributes)
        }
    }

    private func report(_ pages: ItemsPages) {
        if pages.hasGap {
            gaps += 1
            context.log.warning(
                "gap: none of the \(counted(pages.keys.count, "item")) that \(pages.wasCut ? "max_pages allows" : "can be had") was known, so items before them may be lost",
                ["url": options.source, "gaps": String(gaps)])
        }
        // An element stays in the list for long: it is not reported at every poll.
        if pages.unusable > 0 && pages.unusable != unusable {
            context.log.warning(
                "left out of the list, as they have no id at \"\(options.fields.id?.description ?? "")\": \(pages.unusable)",
                ["url": options.source, "unusable": String(pages.unusable)])
        }
        unusable = pages.unusable
        if let link = pages.foreignLink {
            context.log.warning("the next page is \(link), and was not asked for", ["url": options.source])
        }
    }
}
