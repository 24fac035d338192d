// feedbus: a place for one source to run: a scripted service, virtual time, and a memory of cursors.

import FeedbusPlugin
import FeedbusTestKit
import Synchronization

/// Runs a source under virtual time. Cursors are kept as if every event were delivered at once.
final class TestStage: Sendable {
    private struct State {
        var events: [Event] = []
        var batches: [Int] = []
        var cursors: [String: Bytes] = [:]
        var saves = 0
        var log: [LogRecord] = []
    }

    let simulation: Simulation
    let service: ScriptedService
    private let recording: RecordedTransport?
    private let state = Mutex(State())

    /// - Parameter recording: answers in place of the scripted service.
    init(_ simulation: Simulation, latency: Duration = .zero, recording: RecordedTransport? = nil) {
        self.simulation = simulation
        self.recording = recording
        service = ScriptedService(simulation.clock, latency: latency)
    }

    /// What was emitted since the last `forget()`.
    var events: [Event] { state.withLock(\.events) }
    var ids: [String] { events.map(\.id.string) }
    /// How often cursors were saved.
    var saves: Int { state.withLock(\.saves) }
    var cursors: [String: Bytes] { state.withLock(\.cursors) }

    func log(_ level: LogLevel = .warning) -> [String] {
        state.withLock { $0.log.filter { $0.level >= level }.map(\.message) }
    }

    func sleep(for duration: Duration) async throws { try await simulation.clock.sleep(for: duration) }

    func setCursor(_ key: String, _ value: Bytes) { state.withLock { $0.cursors[key] = value } }

    func forget() {
        service.forget()
        state.withLock { state in
            state.events = []
            state.saves = 0
            state.log = []
        }
    }

    /// One run with `--once`: a new instance, the cursors of earlier runs.
    func once<Plugin: Source>(
        _ type: Plugin.Type, _ options: Plugin.Options, retry: RetryPolicy = RetryPolicy(attempts: 1)
    ) async throws {
        try await run(type, options, RunMode(once: true), retry)
    }

    /// A run that is stopped after a time.
    func run<Plugin: Source>(
        _ type: Plugin.Type, _ options: Plugin.Options, for duration: Duration,
        retry: RetryPolicy = RetryPolicy(attempts: 1)
    ) async throws {
        let running = Task(executorPreference: simulation.loop) {
            try await self.run(type, options, RunMode(offline: true), retry)
        }
        try await simulation.clock.sleep(for: duration)
        running.cancel()
        do { try await running.value } catch is CancellationError {}
    }

    private func run<Plugin: Source>(
        _ type: Plugin.Type, _ options: Plugin.Options, _ mode: RunMode, _ retry: RetryPolicy
    ) async throws {
        let source = try Plugin(options: options, context: context(mode, retry))
        try await source.run(
            Output { events, cursors in
                self.state.withLock { state in
                    state.events += events
                    if !events.isEmpty { state.batches.append(events.count) }
                    if !cursors.isEmpty { state.saves += 1 }
                    for cursor in cursors { state.cursors[cursor.key] = cursor.value }
                }
            })
    }

    private func context(_ mode: RunMode, _ retry: RetryPolicy) -> PluginContext {
        let log = Log(node: "rx", level: .debug) { record in self.state.withLock { $0.log.append(record) } }
        let clock = simulation.clock
        return PluginContext(
            node: "rx", log: log, clock: clock, mode: mode, retry: retry, onError: .pass,
            http: PoliteClient(
                transport: recording ?? service as any HTTPTransport, ledger: ServiceLedger(), retry: retry,
                clock: clock, log: log, seed: 7),
            host: ManualHost(loop: simulation.loop), directory: "/", seed: 7, headline: { _ in nil },
            loadCursor: { key in self.state.withLock { $0.cursors[key] } })
    }
}

/// A manual loop as a plugin's host.
private struct ManualHost: LoopHost {
    let loop: ManualLoop

    var serialExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    var taskExecutor: any TaskExecutor { loop }

    func offload<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T { try work() }

    func spawn(_ command: ChildCommand) async throws -> ChildProcess {
        throw FeedbusError(FeedbusError.Code("test"), "no child processes here")
    }
}

/// Runs a test body on a stage.
func onStage<Result: Sendable>(
    latency: Duration = .zero, _ body: @escaping @Sendable (TestStage) async throws -> Result
) throws -> Result {
    try Simulation.run { simulation in try await body(TestStage(simulation, latency: latency)) }
}

/// Options as a config gives them.
func decode<Options: PluginOptions>(_ type: Options.Type, _ text: String) -> (
    options: Options, problems: [ConfigProblem]
) {
    let (value, mistakes) = ConfigText.parse(Bytes(text))
    guard let value, mistakes.isEmpty else { return (Options(), mistakes) }
    return Options.decode(
        value, owner: value,
        context: OptionContext(owner: "Test", environment: ["TOKEN": "secret-token"], readFile: { _ in nil }))
}

/// Options that must be right.
func options<Options: PluginOptions>(_ type: Options.Type, _ text: String) -> Options {
    let (options, problems) = decode(type, text)
    precondition(problems.isEmpty, "\(problems.map(\.message))")
    return options
}
