// feedbus: a graph of probes on a manual loop under virtual time.

import FeedbusBase
import FeedbusFlow
import FeedbusHTTP
import FeedbusPlugin
import FeedbusStore
import FeedbusTestKit
import Glibc
import Synchronization

@testable import FeedbusRuntime

/// What happened in a run, in order, as seen by the probes.
final class Journal: Sendable {
    private let state = Synchronization.Mutex<(lines: [String], log: [String], saved: [String])>(([], [], []))

    func note(_ line: String) { state.withLock { $0.lines.append(line) } }
    func log(_ record: LogRecord) {
        state.withLock { $0.log.append("\(record.level.name) \(record.node ?? "-"): \(record.message)") }
    }
    func saved(_ node: String, _ updates: [CursorUpdate]) {
        state.withLock { $0.saved += updates.map { "\(node)=\($0.value?.string ?? "nil")" } }
    }

    var lines: [String] { state.withLock { $0.lines } }
    var logged: [String] { state.withLock { $0.log } }
    var saved: [String] { state.withLock { $0.saved } }
    func count(_ prefix: String) -> Int { lines.count { $0.hasPrefix(prefix) } }
}

/// A source that runs what the test gives it.
actor ScriptedSource: Source {
    struct Options: PluginOptions {
        static let options: [Option<Options>] = []
    }
    static let name = "Scripted"
    static let summary = "runs a script"
    nonisolated let context: PluginContext
    private let script: @Sendable (Output, PluginContext) async throws -> Void

    init(options: Options, context: PluginContext) { fatalError("made with a script") }

    init(context: PluginContext, script: @escaping @Sendable (Output, PluginContext) async throws -> Void) {
        self.context = context
        self.script = script
    }

    func run(_ output: Output) async throws { try await script(output, context) }
}

/// A sink that calls what the test gives it for every write.
actor ScriptedSink: Sink {
    typealias Options = ScriptedSource.Options
    static let name = "ScriptedSink"
    static let summary = "calls a script"
    nonisolated let context: PluginContext
    private let script: @Sendable ([Int], PluginContext) async throws -> Void

    init(options: Options, context: PluginContext) { fatalError("made with a script") }

    init(context: PluginContext, script: @escaping @Sendable ([Int], PluginContext) async throws -> Void) {
        self.context = context
        self.script = script
    }

    func write(_ events: Chunk<Event>) async throws {
        try await script(events.map { Int($0.id.string)! }, context)
    }
}

/// A stage that applies what the test gives it.
actor ScriptedStage: Stage {
    typealias Options = ScriptedSource.Options
    static let name = "ScriptedStage"
    static let summary = "applies a script"
    nonisolated let context: PluginContext
    private let script: @Sendable (Flow<Event>) throws -> Flow<Event>

    init(options: Options, context: PluginContext) { fatalError("made with a script") }

    init(context: PluginContext, script: @escaping @Sendable (Flow<Event>) throws -> Flow<Event>) {
        self.context = context
        self.script = script
    }

    func transform(_ input: Flow<Event>) async throws -> Flow<Event> { try script(input) }
}

func numbered(_ numbers: some Sequence<Int>) -> [Event] {
    let origin = EventOrigin(source: "/probe", type: "probe", node: "probe")
    return numbers.map { Event(origin: origin, id: Bytes(String($0)), data: Bytes("{\"n\":\($0)}")) }
}

extension PlannedNode {
    static func source(
        _ name: String, _ script: @escaping @Sendable (Output, PluginContext) async throws -> Void
    ) -> PlannedNode {
        PlannedNode(name: name, plugin: "Scripted", role: .source { ScriptedSource(context: $0, script: script) })
    }

    static func stage(
        _ name: String, from: [String], buffer: BufferPlan = BufferPlan(),
        _ script: @escaping @Sendable (Flow<Event>) throws -> Flow<Event>
    ) -> PlannedNode {
        PlannedNode(
            name: name, plugin: "Scripted", role: .stage { ScriptedStage(context: $0, script: script) }, from: from,
            buffer: buffer)
    }

    static func sink(
        _ name: String, from: [String], events: Int = 1_024, whenFull: OverflowPolicy = .block,
        retry: RetryPolicy = RetryPolicy(jitter: false),
        _ script: @escaping @Sendable ([Int], PluginContext) async throws -> Void
    ) -> PlannedNode {
        var buffer = BufferPlan()
        buffer.events = events
        buffer.whenFull = whenFull
        return PlannedNode(
            name: name, plugin: "Scripted", role: .sink { ScriptedSink(context: $0, script: script) }, from: from,
            buffer: buffer, retry: retry)
    }

    static func subject(_ name: String, from: [String], replay: Int = 0) -> PlannedNode {
        PlannedNode(name: name, plugin: nil, role: .subject(replay: replay, scope: .forever), from: from)
    }

    /// A subject whose events are in a log on disk.
    static func durable(
        _ name: String, from: [String], replay: Int = 0, _ change: (inout Retention) -> Void = { _ in }
    ) -> PlannedNode {
        var retention = Retention()
        retention.replay = replay
        change(&retention)
        return PlannedNode(
            name: name, plugin: nil, role: .subject(replay: replay, scope: .forever), from: from, retention: retention)
    }
}

/// A graph under test.
struct GraphBench: Sendable {
    let simulation: Simulation
    let journal: Journal
    let graph: Graph

    /// On how many loops the graphs of all tests run that do not say it themselves: `FEEDBUS_LOOPS` in the environment.
    static let usualLoops = getenv("FEEDBUS_LOOPS").flatMap { Int(String(cString: $0)) } ?? 1

    init(
        _ simulation: Simulation, _ journal: Journal, once: Bool = false, grace: Duration = .seconds(10),
        store: StateStore? = nil, deadLetters: DeadLetterCap = DeadLetterCap(), loops: Int = usualLoops,
        nodes: [PlannedNode]
    ) {
        self.simulation = simulation
        self.journal = journal
        var settings = Settings()
        settings.shutdownGrace = grace
        settings.deadLetters = deadLetters
        let clock = simulation.clock
        let services = GraphServices(
            host: SimulatedHost(simulation.loop), clock: clock, log: Log(level: .trace) { journal.log($0) },
            mode: RunMode(once: once), seed: 1, headline: { _ in nil },
            http: { _, _, log, clock, seed in
                PoliteClient(
                    transport: NoTransport(), ledger: ServiceLedger(), retry: RetryPolicy(), clock: clock, log: log,
                    seed: seed)
            },
            loadCursor: { _, _ in nil },
            saveCursors: { for (node, cursors) in $0 { journal.saved(node, cursors) } }, store: store,
            moreLoops: (1..<loops).map { _ in
                GraphLoop(host: SimulatedHost(ManualLoop(beside: simulation.loop)), clock: clock)
            })
        graph = Graph(plan: Plan(settings: settings, nodes: nodes), services: services)
    }

    /// Runs the graph; `meanwhile` runs beside it.
    func run(meanwhile: @escaping @Sendable () async throws -> Void = {}) async throws -> GraphReport {
        async let other: Void = meanwhile()
        let report = await graph.run()
        try await other
        return report
    }
}

/// A network that nobody reaches.
private struct NoTransport: HTTPTransport {
    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        throw FeedbusError("http.connect", "there is no network here")
    }
}

/// Holds whoever waits until it is opened.
final class Gate: Sendable {
    private let state = Synchronization.Mutex<(isOpen: Bool, waiters: [CheckedContinuation<Void, Never>])>((false, []))

    func pass() async {
        await withCheckedContinuation { continuation in
            let now = state.withLock { state in
                if !state.isOpen { state.waiters.append(continuation) }
                return state.isOpen
            }
            if now { continuation.resume() }
        }
    }

    func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}
