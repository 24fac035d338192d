// feedbus: the whole program around a graph: loop, signals, state, HTTP, log, exit code.

import FeedbusBase
import FeedbusHTTP
import FeedbusLoop
import FeedbusPlugin
import FeedbusStore
import Glibc
import Synchronization

/// Runs a checked config.
package enum FeedbusProgram {
    /// Runs until the graph has ended or was told to stop, on the calling thread.
    /// - Returns: the exit code: 0; 1 when a node failed for good or events were left undelivered; 2 when nothing was
    ///   started, because `--record` names a file that cannot be written.
    package static func run(plan: Plan, options: RunOptions, registry: PluginRegistry) -> Int32 {
        ignoreSIGPIPE()
        let loop: EventLoop
        do { loop = try EventLoop.make(name: "main") } catch {
            LogWriter(text: LogText(format: plan.settings.logFormat, color: false)) {
                WallTime(seconds: Int64(time(nil)))
            }
            .log(level: .error).error("the event loop cannot start: \(describeError(error))")
            return 1
        }
        let clock = loop.clock
        let color = isatty(2) == 1 && getenv("NO_COLOR") == nil
        let writer = LogWriter(text: LogText(format: plan.settings.logFormat, color: color)) { clock.wallTime }
        let log = writer.log(level: plan.settings.logLevel)
        writer.use(loop)
        sayThreads(plan, loop.makePool(threads: plan.poolThreads), log)
        let exitCode = Atomic<Int32>(1)
        loop.task {
            do {
                let more = try await MoreLoops.start(plan.moreLoops)
                let run = ProgramRun(
                    plan: plan, options: options, registry: registry, loop: loop, more: more, log: log)
                let code = await run.run()
                await more.stop()
                exitCode.store(code, ordering: .relaxed)
            } catch {
                log.error("\(describeError(error)); nothing was started")
            }
            loop.stop()
        }
        do { try loop.run() } catch {
            log.error("the event loop failed: \(describeError(error))")
        }
        writer.use(nil)
        return exitCode.load(ordering: .relaxed)
    }

    private static func sayThreads(_ plan: Plan, _ threads: Int, _ log: Log) {
        let workers = plan.poolThreads - ThreadPool.usual
        guard threads < workers else { return }
        let stages = plan.shared.map(\.name).joined(separator: ", ")
        log.warning(
            "\(workers) workers (\(stages)) share a pool of \(counted(threads, "thread")): not all can work at once; leave"
                + " UV_THREADPOOL_SIZE out of the environment, or make it \(plan.poolThreads)")
    }
}

/// One run of the program, on its loop.
private struct ProgramRun: Sendable {
    let plan: Plan
    let options: RunOptions
    let registry: PluginRegistry
    let loop: EventLoop
    let more: MoreLoops
    let log: Log

    func run() async -> Int32 {
        let signals = SignalState()
        loop.onSignals([SIGINT, SIGTERM, SIGHUP]) { number in signals.received(number, on: loop) }
        EarlySignals.release()
        let recorder: Recorder?
        do {
            recorder = try await openRecording()
        } catch {
            log.error("\(describeError(error)); nothing was started")
            return 2
        }
        async let opening = StateStore.open(
            folder: plan.settings.state, on: loop, keepDamagedAside: options.resetState ? loop.clock.wallTime : nil)
        async let connecting = HTTPServices.make(
            settings: plan.settings, options: options, recorder: recorder, loop: loop)
        let store: StateStore
        let http: HTTPServices
        do {
            store = try await opening
        } catch {
            log.error(describeError(error))
            _ = try? await connecting
            return 1
        }
        do {
            http = try await connecting
        } catch {
            log.error(describeError(error))
            await store.close()
            return 1
        }
        if let kept = store.keptAside {
            log.warning(
                "the damaged state database is kept as \(kept); what was delivered before may be delivered again")
        } else if options.resetState {
            log.info("--reset-state: the state is whole and stays as it is (\"feedbus state reset\" empties it)")
        }
        let replayed: Plan?
        do {
            replayed = try await self.replayed(from: store)
        } catch {
            log.error(describeError(error))
            _ = try? await http.close()
            await store.close()
            return 1
        }
        guard let planned = replayed else {
            log.info("there are no dead letters to send again")
            _ = try? await http.close()
            await store.close()
            return 0
        }
        let graph = Graph(plan: planned, services: services(store: store, http: http))
        signals.start(on: loop) { signal in
            switch signal {
            case SIGHUP: await graph.reopen()
            case SIGINT: await graph.stop(because: "SIGINT")
            default: await graph.stop(because: "SIGTERM")
            }
        }
        let timer = options.forDuration.map { duration in
            loop.task {
                try await loop.clock.sleep(for: duration)
                await graph.stop(because: "--for \(duration.text) is over")
            }
        }
        let budgets = loop.task { try await http.keepBudgets(in: store, clock: loop.clock, log: log) }
        let report = await graph.run()
        timer?.cancel()
        budgets.cancel()
        _ = try? await budgets.value
        await http.saveBudgets(in: store, log: log)
        var code = report.exitCode
        do { try await http.close() } catch {
            log.error(describeError(error))
            code = 1
        }
        await store.close()
        report.log(to: log)
        return code
    }

    private func openRecording() async throws -> Recorder? {
        guard let path = options.record else { return nil }
        return try await Recorder.open(
            path: path, host: loop, clock: loop.clock, creator: "feedbus \(feedbusVersion)", log: log)
    }

    /// The plan that runs: the config's, or that of a replay; nil where a replay has nothing to send.
    private func replayed(from store: StateStore) async throws -> Plan? {
        guard let request = options.replay else { return plan }
        return try await ReplayPlan(plan: plan, store: store, log: log).make(request)
    }

    private func services(store: StateStore, http: HTTPServices) -> GraphServices {
        let headlines = registry.plugins.map(\.headline)
        return GraphServices(
            host: loop, clock: loop.clock, log: log,
            mode: RunMode(once: options.once, offline: options.offline), seed: UInt64.random(in: .min ... .max),
            headline: { event in
                for headline in headlines {
                    if let text = headline(event) { return text }
                }
                return nil
            },
            http: { node, retry, log, clock, seed in
                http.client(node: node, retry: retry, log: log, clock: clock, seed: seed)
            },
            loadCursor: { node, key in try await store.cursor(node: node, key: key) },
            saveCursors: { [isReplay = options.replay != nil] saved in
                // What a replay has delivered is no dead letter any more.
                if isReplay {
                    return try await store.removeDeadLetters(ReplaySource.letters(in: saved.flatMap(\.cursors)))
                }
                try await store.save(
                    saved.flatMap { node, cursors in cursors.map { (node: node, key: $0.key, value: $0.value) } })
            }, store: store,
            memoryIsFree: { [loop] in
                // It walks through all that is free: on the pool.
                loop.task {
                    try await store.releaseMemory()
                    try await loop.offload { trimMemory() }
                }
            }, moreLoops: more.forGraph)
    }
}

/// What the signals have asked for so far.
private final class SignalState: Sendable {
    private struct State {
        var stops = 0
        var early: [Int32] = []
        var handler: (@Sendable (Int32) async -> Void)?
    }

    private let state = Mutex(State())

    /// On the loop. The second SIGINT or SIGTERM ends the process at once.
    func received(_ number: Int32, on loop: EventLoop) {
        let handler: (@Sendable (Int32) async -> Void)? = state.withLock { state in
            if number != SIGHUP { state.stops += 1 }
            if state.stops > 1 {
                loop.killChildren()
                _exit(128 + number)
            }
            if state.handler == nil { state.early.append(number) }
            return state.handler
        }
        if let handler { loop.task { await handler(number) } }
    }

    /// From now on signals go to `handler`; those that came before it first.
    func start(on loop: EventLoop, _ handler: @escaping @Sendable (Int32) async -> Void) {
        let early = state.withLock { state in
            state.handler = handler
            defer { state.early = [] }
            return state.early
        }
        guard !early.isEmpty else { return }
        loop.task {
            for number in early { await handler(number) }
        }
    }
}

/// Gives memory that is free back to the system, where the C library has a way to do so (glibc).
private func trimMemory() {
    typealias Trim = @convention(c) (Int) -> Int32
    if let found = dlsym(nil, "malloc_trim") { _ = unsafeBitCast(found, to: Trim.self)(0) }
}
