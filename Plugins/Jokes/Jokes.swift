// feedbus: the source Jokes.

public import FeedbusPlugin
import Polling

/// Asks a service for one random joke at a time, and emits each joke once.
public actor Jokes: PollingSource {
    public static let name = "Jokes"
    public static let summary = "random jokes, one at a time, each once"

    public nonisolated let context: PluginContext
    private let options: JokesOptions
    private let source: String
    private var seen = SeenIDs(limit: Jokes.seenLimit)
    private var origins: [Bool: EventOrigin] = [:]
    private var emitted = 0
    private var missed = 0

    /// More jokes than any of the services has.
    private static let seenLimit = 5_000
    private static let types = Set(JokeService.allCases.map(\.eventType))

    public init(options: JokesOptions, context: PluginContext) {
        self.context = context
        self.options = options
        source = options.baseURL + options.service.sourcePath
    }

    public static func check(_ options: JokesOptions, _ checking: OptionCheck) {
        guard options.category != nil && !options.service.hasCategories else { return }
        checking.problem(
            "\(options.service.rawValue) has no categories", at: "category", code: "conflicting-options")
    }

    public static func headline(of event: Event) -> String? {
        guard types.contains(event.origin.type.string), let data = try? JSON.parse(event.data) else { return nil }
        let text = data["translatedValue"]?.string ?? data["value"]?.string
        return text.map { $0.split { $0.isNewline }.joined(separator: " / ") }
    }

    public nonisolated var every: Duration { options.every }

    public nonisolated var service: PollService { PollService(request) }

    private nonisolated var request: HTTPRequest {
        HTTPRequest(
            options.url, headers: ["Accept": "application/json"], timeout: options.timeout, maxBody: options.maxBody)
    }

    public func prepare() async throws {
        emitted = 0
        let saved = try await context.savedText("seen \(source)")
        seen = SeenIDs(limit: Self.seenLimit, json: saved?["seen"]) ?? SeenIDs(limit: Self.seenLimit)
    }

    /// Nil when there are enough.
    public func poll(_ output: Output) async throws -> PollResult? {
        let service = options.service
        let fetched: Fetched<JokeAnswer>
        do {
            // Without validators: "not modified" makes no sense where every answer is another joke.
            fetched = try await context.http.fetch(request) { try JokeAnswer($0, from: service) }
        } catch {
            try Task.checkCancellation()
            return try miss(describeError(error), error)
        }
        switch fetched.value {
        case .joke(let joke)?: try await emit(joke, output)
        case .refused(let words)?: return try miss("\(options.url): \(words)", nil)
        case nil: break
        }
        if let count = options.count, emitted >= count { return nil }
        return PollResult(minimumWait: fetched.minimumWait)
    }

    private func emit(_ joke: Joke, _ output: Output) async throws {
        guard !seen.contains(joke.id) else {
            context.log.debug("the joke \(joke.id) was told before")
            return
        }
        let origin =
            origins[joke.isRecorded]
            ?? EventOrigin(
                source: source, type: options.service.eventType, node: context.node, recorded: joke.isRecorded)
        origins[joke.isRecorded] = origin
        let event = Event(
            origin: origin, id: Bytes(joke.id), time: Bytes(context.clock.wallTime.rfc3339()), data: joke.data,
            attributes: joke.attributes)
        var next = seen
        next.insert([joke.id])
        var ids = ByteWriter()
        next.append(to: &ids)
        try await output.emit(
            [event],
            saving: [CursorUpdate("seen \(source)", SavedText.make([(key: "seen", value: ids.finish())]))])
        seen = next
        emitted += 1
    }

    /// A joke that cannot be had is counted and replaced by nothing. With `--once` that is the end of it; else the poll
    /// has failed and the next one comes later.
    private func miss(_ reason: String, _ cause: (any Error)?) throws -> PollResult? {
        missed += 1
        let message = "no joke: \(reason); jokes missed: \(missed)"
        guard context.mode.once else {
            throw FeedbusError(
                (cause as? FeedbusError)?.code ?? FeedbusError.Code("jokes.refused"), message, isRetriable: true,
                cause: cause)
        }
        context.log.warning(message)
        return PollResult()
    }
}
