// feedbus: the stage that translates a text in each event.

import FeedbusPlugin

/// Translates a text in each event's data and adds the translation to the data's end.
///
/// Several texts are under way at once; events go on in their order all the same. A text that was translated before is
/// not asked again, also not while it is still being asked for the first time.
public actor Translation: Stage {
    public static let name = "Translation"
    public static let summary = "translates a text in each event"

    public nonisolated let context: PluginContext
    private let options: TranslationOptions
    private let translator: any Translator
    private var cache: LRUCache<Question, String>
    private var asked: [Question: Task<String, any Error>] = [:]
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var trouble = TroubleLog()

    struct Question: Hashable, Sendable {
        var text: String
        var from: String
    }

    /// An event's place in the order.
    private enum Slot: Sendable {
        case ready([Event])
        case pending(Task<Event?, any Error>)
    }

    public static func check(_ options: TranslationOptions, _ checking: OptionCheck) {
        let provider = options.provider
        if LanguageCodes.isSame(options.from, options.to) && LanguageCodes.region(options.to) == nil {
            checking.problem("\"from\" and \"to\" are the same language", at: "to", code: "contradiction")
        }
        for (name, pointer) in [("text", options.text), ("into", options.into)] where pointer.tokens.isEmpty {
            checking.problem("\"\(name)\" must point into data, not at all of it", at: name, code: "out-of-range")
        }
        if provider.name == .apertium {
            for program in ["apertium", "bash"] where checking.findProgram(program) == nil {
                checking.problem(
                    "the program \(program) is not there; on Debian: apt install apertium apertium-eng-spa,"
                        + " or name another provider", at: "provider", code: "no-program")
            }
            if provider.baseURL != nil {
                checking.problem(
                    "the provider \"apertium\" is a local program and takes no \"base_url\"", at: "provider",
                    code: "contradiction", suggestion: "apertium-apy")
            }
        }
        if TranslationService.needsKey(provider.name) && provider.apiKey == nil {
            checking.problem(
                "the provider \"\(provider.name.rawValue)\" needs an \"api_key\"", at: "provider",
                code: "missing-option")
        }
    }

    public init(options: TranslationOptions, context: PluginContext) {
        self.context = context
        self.options = options
        cache = LRUCache(capacity: options.cache)
        free = options.maxConcurrent
        if options.provider.name == .apertium {
            translator = ApertiumTranslator(timeout: options.timeout, context: context)
        } else {
            // One retry, whatever the node's policy says: the next event waits behind this one.
            var retry = context.retry
            retry.attempts = 2
            translator = HTTPTranslator(
                service: TranslationService(options.provider), http: context.http.with(retry: retry),
                timeout: options.timeout)
        }
    }

    public func transform(_ input: Flow<Event>) async throws -> Flow<Event> {
        try await translator.prepare(from: options.from, to: options.to)
        return Flow { emit in try await self.run(input, emit) }
    }

    // MARK: - Order

    private func run(_ input: Flow<Event>, _ emit: @escaping Flow<Event>.Collector) async throws {
        let order = Edge<Slot>(capacity: options.maxConcurrent)
        let feeding = context.task { await self.feed(input, order) }
        do {
            try await pass(order, emit)
            await translator.close()
        } catch {
            feeding.cancel()
            for case .pending(let task) in order.close() { task.cancel() }
            // In an order that is the same in every run.
            for (_, task) in asked.sorted(by: { ($0.key.text, $0.key.from) < ($1.key.text, $1.key.from) }) {
                task.cancel()
            }
            await translator.close()
            throw error
        }
    }

    private func feed(_ input: Flow<Event>, _ order: Edge<Slot>) async {
        do {
            try await input.collect { chunk in
                var ready: [Event] = []
                for event in chunk {
                    switch await self.slot(for: event) {
                    case .ready(let events): ready += events
                    case .pending(let task):
                        if !ready.isEmpty { try await order.send(Chunk(one: .ready(ready))) }
                        ready = []
                        try await order.send(Chunk(one: .pending(task)))
                    }
                }
                if !ready.isEmpty { try await order.send(Chunk(one: .ready(ready))) }
            }
            order.finish()
        } catch {
            order.fail(error)
        }
    }

    private func pass(_ order: Edge<Slot>, _ emit: Flow<Event>.Collector) async throws {
        while let slots = try await order.next(max: 1) {
            for slot in slots {
                switch slot {
                case .ready(let events): try await emit(Chunk(events))
                case .pending(let task):
                    guard let translated = try await task.join() else { continue }
                    try await emit(Chunk(one: translated))
                }
            }
        }
    }

    // MARK: - One event

    private func slot(for event: Event) -> Slot {
        guard let work = TextToTranslate(event, text: options.text, from: options.from, to: options.to) else {
            return .ready([event])
        }
        if let known = cache.value(Question(text: work.text, from: work.language)),
            let done = translated(event, work, known)
        {
            return .ready([done])
        }
        return .pending(context.task { try await self.translate(event, work) })
    }

    private func translated(_ event: Event, _ work: TextToTranslate, _ translation: String) -> Event? {
        guard let data = work.translated(translation, into: options.into, to: options.to) else { return nil }
        var event = event
        event.data = data
        return event
    }

    /// The translated event; nil where it is to be dropped.
    private func translate(_ event: Event, _ work: TextToTranslate) async throws -> Event? {
        do {
            let translation = try await answer(to: Question(text: work.text, from: work.language))
            guard let done = translated(event, work, translation) else {
                throw FeedbusError("translation.into", "there is no object at \(options.into) to hold the translation")
            }
            if let count = trouble.ended() { context.log.info("translating again after \(count) failures") }
            return done
        } catch {
            if error is CancellationError || Task.isCancelled { throw CancellationError() }
            return try settle(event, describeError(error), cause: error)
        }
    }

    /// What the node's `on_error` says.
    private func settle(_ event: Event, _ reason: String, cause: any Error) throws -> Event? {
        if trouble.isNews(reason, at: context.clock.now) {
            let consequence =
                switch context.onError {
                case .pass: "goes on untranslated"
                case .drop: "is dropped"
                case .fail: "stops the stage"
                }
            context.log.warning("event \(event.id) \(consequence): \(reason)")
        }
        switch context.onError {
        case .pass:
            var event = event
            event.set("translationerror", to: JSON.quote(reason))
            return event
        case .drop:
            context.countDropped(1)
            return nil
        case .fail:
            throw FeedbusError(
                "translation.failed", "cannot translate event \(event.id): \(reason)", isRetriable: true, cause: cause)
        }
    }

    // MARK: - Asking

    /// Asks once for the same text, however many events wait for it.
    private func answer(to question: Question) async throws -> String {
        if let known = cache.value(question) { return known }
        if let task = asked[question] { return try await task.join() }
        let task = context.task { try await self.ask(question) }
        asked[question] = task
        defer { asked[question] = nil }
        // Events are cancelled one and all, when the stage ends: then nobody waits for the answer any more.
        return try await task.join()
    }

    private func ask(_ question: Question) async throws -> String {
        await takeTurn()
        defer { giveTurn() }
        try Task.checkCancellation()
        let text = try await translator.translate(question.text, from: question.from, to: options.to)
        // A few huge texts must not fill the memory that many small ones are to share.
        if question.text.utf8.count <= 1 << 16 { cache.insert(question, text) }
        return text
    }

    private func takeTurn() async {
        if free > 0 {
            free -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func giveTurn() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
