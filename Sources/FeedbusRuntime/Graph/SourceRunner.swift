// feedbus: runs one source, and starts it again when it fails.

import FeedbusBase
import FeedbusFlow
import FeedbusHTTP
import FeedbusPlugin
import Synchronization

/// Supervises one source node. A source that polls has a task while it polls, and none while it sleeps, nor before its first
/// poll: then it stands in the timetable. Ten thousand tasks at the start would leave holes in memory for the whole run.
final class SourceRunner: PollCaller {
    private struct Polling {
        let source: any PollingSource
        var schedule: PollSchedule
        let startedAt: Instant
        /// It has taken up where the last run ended: a part of its first poll.
        var isPrepared = false
    }

    private struct State {
        var task: Task<Void, any Error>?
        var polling: Polling?
        /// How it went so far. Nearly all never fail, and there may be thousands: it stands apart.
        indirect enum History {
            case none
            case failed(Failures)
        }
        var history = History.none
        /// It has no task, and waits for the timetable.
        var isParked = false
        var isCancelled = false
    }

    /// Used by the source's own task only.
    private struct Failures {
        var random: SplitMix64
        var restarts: RestartStateMachine
    }

    private enum Step {
        case ended(NodeEnd)
        case sleeps(until: Instant)
    }

    private let make: @Sendable (PluginContext) throws -> any Source
    private let context: PluginContext
    private let output: NodeOutput
    let ledger: CursorLedger
    private let counters: NodeCounters
    private let graph: Graph
    private let state = Mutex(State())

    init(
        make: @escaping @Sendable (PluginContext) throws -> any Source, context: PluginContext, output: NodeOutput,
        ledger: CursorLedger, counters: NodeCounters, graph: Graph
    ) {
        self.make = make
        self.context = context
        self.output = output
        self.ledger = ledger
        self.counters = counters
        self.graph = graph
    }

    /// Runs until the source is exhausted, given up, or cancelled; then tells the graph.
    func start() {
        let startedAt = context.clock.now
        let made = Result { try make(context) }
        if let source = try? made.get() as? any PollingSource, case .sleeps(let due) = schedule(source, startedAt) {
            state.withLock { $0.isParked = true }
            graph.timetable.add(self, at: due)
        } else {
            begin { await self.live(made) }
        }
    }

    func cancel() {
        let (task, wasParked) = state.withLock { state in
            state.isCancelled = true
            defer { state.isParked = false }
            return (state.task, state.isParked)
        }
        task?.cancel()
        if wasParked { begin { .ended(.stopped) } }
    }

    private func begin(_ work: @escaping @Sendable () async -> Step) {
        let task = context.host.task { [self] in
            switch await work() {
            case .ended(let end):
                state.withLock { $0.polling = nil }
                output.finish()
                await graph.ended(context.node, end)
            case .sleeps(let due): await park(until: due)
            }
        }
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    /// The task ends; the timetable begins the next one.
    private func park(until due: Instant) async {
        let isCancelled = state.withLock { state in
            state.task = nil
            state.isParked = !state.isCancelled
            return state.isCancelled
        }
        if isCancelled {
            output.finish()
            await graph.ended(context.node, .stopped)
        } else {
            graph.timetable.add(self, at: due)
        }
    }

    // MARK: - A life

    /// - Parameter made: the source, where it was made already.
    private func live(_ made: Result<any Source, any Error>? = nil) async -> Step {
        var made = made
        while true {
            let startedAt = context.clock.now
            do {
                let source = try made.take()?.get() ?? make(context)
                if let source = source as? any PollingSource { return schedule(source, startedAt) }
                try await source.run(
                    Output { events, cursors in
                        try await self.emit(events, cursors)
                    } packed: { events, cursors in
                        try await self.emit(events, cursors)
                    })
                return .ended(Task.isCancelled ? .stopped : .completed)
            } catch {
                if let end = await failed(error, startedAt) { return .ended(end) }
            }
        }
    }

    private func schedule(_ source: any PollingSource, _ startedAt: Instant) -> Step {
        var schedule = PollSchedule(every: source.every, seed: context.seed)
        let isImmediate = context.mode.once || context.mode.offline
        let due = context.clock.now + (isImmediate ? .zero : schedule.startJitter())
        let polling = Polling(source: source, schedule: schedule, startedAt: startedAt)
        state.withLock { $0.polling = polling }
        return .sleeps(until: due)
    }

    // MARK: - Polls

    var service: PollService? { state.withLock { $0.polling?.source.service } }

    func pollIsDue(_ service: PollService) {
        let isDue = state.withLock { state in
            defer { state.isParked = false }
            return state.isParked
        }
        // It was cancelled meanwhile.
        guard isDue else { return graph.timetable.ended(service) }
        begin {
            let step = await self.poll()
            self.graph.timetable.ended(service)
            return step
        }
    }

    private func poll() async -> Step {
        guard let polling = state.withLock(\.polling) else { return .ended(.stopped) }
        let source = polling.source
        if !polling.isPrepared {
            do { try await source.prepare() } catch { return await startAgain(after: error, polling.startedAt) }
            state.withLock { $0.polling?.isPrepared = true }
        }
        let startedAt = context.clock.now
        do {
            let result = try await source.poll(Output { events, cursors in try await self.emit(events, cursors) })
            guard let result, !context.mode.once else { return .ended(Task.isCancelled ? .stopped : .completed) }
            return .sleeps(until: next { $0.after(result, startedAt: startedAt, now: $1, log: $2) })
        } catch {
            if Task.isCancelled { return .ended(.stopped) }
            if !context.mode.once, !(error is CancellationError) {
                return .sleeps(until: next { $0.after(error, startedAt: startedAt, now: $1, log: $2) })
            }
            return await startAgain(after: error, polling.startedAt)
        }
    }

    /// The source has failed, and not only a poll of it.
    private func startAgain(after error: any Error, _ startedAt: Instant) async -> Step {
        state.withLock { $0.polling = nil }
        if let end = await failed(error, startedAt) { return .ended(end) }
        return await live()
    }

    private func next(_ plan: (inout PollSchedule, Instant, Log) -> Instant) -> Instant {
        // Only this task changes it.
        guard var schedule = state.withLock({ $0.polling?.schedule }) else { return context.clock.now }
        let due = plan(&schedule, context.clock.now, context.log)
        state.withLock { $0.polling?.schedule = schedule }
        return due
    }

    // MARK: - Failures

    /// Waits until the source may be started again; returns an end where it is not.
    private func failed(_ error: any Error, _ startedAt: Instant) async -> NodeEnd? {
        if Task.isCancelled { return .stopped }
        let reason = describeError(error)
        // With --once a failure is the answer; later there is time to try again.
        if context.mode.once || (error as? FeedbusError)?.isRetriable == false { return .failed(reason) }
        let policy = graph.plan.settings.supervision
        let now = context.clock.now
        let action = state.withLock { state in
            var failures =
                if case .failed(let earlier) = state.history {
                    earlier
                } else {
                    Failures(
                        random: SplitMix64(seed: context.seed),
                        restarts: RestartStateMachine(policy: policy, now: startedAt))
                }
            failures.restarts.started(at: startedAt)
            defer { state.history = .failed(failures) }
            return failures.restarts.failed(at: now, unit: failures.random.unit())
        }
        switch action {
        case .giveUp(let count):
            return .failed("\(reason) (given up after \(count) restarts within \(policy.within.text))")
        case .restart(let pause):
            counters.restarts.add(1)
            context.log.warning("failed: \(reason); starting again in \(pause.text)")
            do { try await context.clock.sleep(for: pause) } catch { return .stopped }
            return nil
        }
    }

    // MARK: - Events

    private func emit(_ events: consuming [Event], _ cursors: [CursorUpdate]) async throws {
        guard !events.isEmpty || !cursors.isEmpty else { return }
        // The receipt lives in the events only: when their last copy has gone, the cursors are due.
        try await send(stamped(events, ledger.receipt(saving: cursors)))
    }

    private func emit(_ events: PackedEvents, _ cursors: [CursorUpdate]) async throws {
        guard events.count > 0 || !cursors.isEmpty else { return }
        try await send(Chunk(events.with(ledger.receipt(saving: cursors))))
    }

    private func stamped(_ events: consuming [Event], _ receipt: Receipt) -> Chunk<Event> {
        events.withUnsafeMutableBufferPointer { events in
            for index in events.indices { events[index].receipt = receipt }
        }
        return Chunk(events)
    }

    private func send(_ chunk: Chunk<Event>) async throws {
        guard !chunk.isEmpty else { return }
        counters.delivered.add(chunk.count)
        do {
            try await output.send(chunk)
        } catch {
            // Given up in the middle: some consumers may not have it.
            chunk.report(.undelivered)
            throw error
        }
    }
}
