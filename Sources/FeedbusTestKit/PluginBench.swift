// feedbus: a place for one plugin to run in a test.

import FeedbusBase
public import FeedbusPlugin
import Synchronization

/// Scripted answers in place of services, virtual time, and a memory of what the plugin emitted, saved and logged.
///
///     try Simulation.run { simulation in
///         let bench = PluginBench(simulation)
///         bench.answer("https://example.org/feed", "[1, 2]")
///         let source = Feed(options: FeedOptions(), context: bench.context(mode: RunMode(once: true)))
///         try await source.run(bench.output)
///         #expect(bench.data == ["1", "2"])
///     }
public final class PluginBench: Sendable {
    /// What a service says to a request.
    public typealias Answer = @Sendable (HTTPRequest) throws -> HTTPResponse

    private struct State {
        var answers: [String: Answer] = [:]
        var requests: [HTTPRequest] = []
        var events: [Event] = []
        var cursors: [String: Bytes] = [:]
        var records: [LogRecord] = []
        var refused: [(id: String, reason: String)] = []
        var texts: [(text: String, reason: String)] = []
        var lines: [String] = []
        var delay = Duration.zero
    }

    public let simulation: Simulation
    private let state = Mutex(State())
    /// Shared by all contexts, as budgets and back-off are in the program.
    private let ledger = ServiceLedger()

    public init(_ simulation: Simulation) { self.simulation = simulation }

    // MARK: - Services

    /// Answers requests for this URL, query included. What has no answer gets a 404.
    public func answer(_ url: String, with answer: @escaping Answer) { state.withLock { $0.answers[url] = answer } }

    /// Answers requests for this URL with a text; with an `ETag` among the headers, those that carry it with a 304.
    public func answer(_ url: String, _ body: String, status: Int = 200, headers: HTTPHeaders = [:]) {
        answer(url) { request in
            let isKnown = headers["ETag"].map { $0 == request.headers["If-None-Match"] } ?? false
            return HTTPResponse(
                status: isKnown ? 304 : status, headers: headers, body: isKnown ? Bytes() : Bytes(body), url: url)
        }
    }

    /// How long each answer takes.
    public var delay: Duration {
        get { state.withLock(\.delay) }
        set { state.withLock { $0.delay = newValue } }
    }

    /// What was asked, in order.
    public var requests: [HTTPRequest] { state.withLock(\.requests) }

    // MARK: - The plugin's side

    /// A plugin's context. Cursors that were saved through `output` are there again in every later one.
    public func context(
        node: String = "node", mode: RunMode = RunMode(), retry: RetryPolicy = RetryPolicy(attempts: 1),
        onError: ErrorPolicy = .pass, directory: String = "/"
    ) -> PluginContext {
        let log = Log(node: node, level: .debug) { record in self.state.withLock { $0.records.append(record) } }
        let http = PoliteClient(
            transport: ScriptedTransport(bench: self), ledger: ledger, retry: retry, clock: simulation.clock, log: log,
            seed: 1)
        return PluginContext(
            node: node, log: log, clock: simulation.clock, mode: mode, retry: retry, onError: onError, http: http,
            host: SimulatedHost(simulation.loop), directory: directory, seed: 1, headline: { _ in nil },
            refused: { event, reason in
                event.receipt?.report(.deadLettered)
                self.state.withLock { $0.refused.append((event.id.string, reason)) }
            },
            refusedText: { text, reason in self.state.withLock { $0.texts.append((text.string, reason)) } },
            loadCursor: { key in self.state.withLock { $0.cursors[key] } })
    }

    /// Where a source puts its events. Each counts as delivered at once: its cursors are saved.
    public var output: Output {
        Output { events, cursors in
            self.state.withLock { state in
                state.events += events
                for cursor in cursors { state.cursors[cursor.key] = cursor.value }
            }
        }
    }

    // MARK: - What came of it

    /// What was emitted since the last `forget()`.
    public var events: [Event] { state.withLock(\.events) }
    /// The data of `events` as text.
    public var data: [String] { events.map(\.data.string) }
    public var cursors: [String: Bytes] { state.withLock(\.cursors) }

    /// What a plugin refused since the last `forget()`, with its reasons.
    public var refused: [(id: String, reason: String)] { state.withLock(\.refused) }

    /// Texts that are no events which a plugin has set aside since the last `forget()`, with its reasons.
    public var textsSetAside: [(text: String, reason: String)] { state.withLock(\.texts) }

    /// What was logged at this level and above.
    public func messages(_ level: LogLevel = .warning) -> [String] {
        state.withLock { $0.records.filter { $0.level >= level }.map(\.message) }
    }

    /// What an `app()` printed since the last `forget()`.
    public var lines: [String] { state.withLock(\.lines) }

    func print(_ line: String) { state.withLock { $0.lines.append(line) } }

    /// Forgets events, refusals, requests, log records and printed lines; answers and cursors stay.
    public func forget() {
        state.withLock { state in
            state.events = []
            state.requests = []
            state.records = []
            state.refused = []
            state.texts = []
            state.lines = []
        }
    }

    fileprivate func reply(to request: HTTPRequest) throws -> HTTPResponse {
        let answer = state.withLock { state in
            state.requests.append(request)
            return state.answers[request.url]
        }
        return try answer?(request) ?? HTTPResponse(status: 404, url: request.url)
    }
}

private struct ScriptedTransport: HTTPTransport {
    let bench: PluginBench

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await bench.simulation.clock.sleep(for: bench.delay)
        return try bench.reply(to: request)
    }
}

extension PluginOptions {
    /// Options as the `with` of a config gives them.
    /// - Throws: `FeedbusError` with every problem in it.
    public static func decoded(from with: String, environment: [String: String] = [:]) throws -> Self {
        let (value, mistakes) = ConfigText.parse(Bytes(with))
        guard let value, mistakes.isEmpty else { throw FeedbusError("test.options", words(mistakes)) }
        let context = OptionContext(owner: "\(Self.self)", environment: environment, readFile: { _ in nil })
        let (options, problems) = decode(value, owner: value, context: context)
        guard problems.isEmpty else { throw FeedbusError("test.options", words(problems)) }
        return options
    }

    private static func words(_ problems: [ConfigProblem]) -> String {
        problems.map(\.message).joined(separator: "; ")
    }
}
