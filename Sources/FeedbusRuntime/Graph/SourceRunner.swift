// feedbus: runs one source, and starts it again when it fails.

import FeedbusBase
import FeedbusFlow
import FeedbusPlugin

/// Supervises one source node. A class, so that what it starts shares it.
final class SourceRunner: Sendable {
    let make: @Sendable (PluginContext) throws -> any Source
    let context: PluginContext
    let output: NodeOutput
    let ledger: CursorLedger
    let counters: NodeCounters
    let supervision: SupervisionPolicy

    init(
        make: @escaping @Sendable (PluginContext) throws -> any Source, context: PluginContext, output: NodeOutput,
        ledger: CursorLedger, counters: NodeCounters, supervision: SupervisionPolicy
    ) {
        self.make = make
        self.context = context
        self.output = output
        self.ledger = ledger
        self.counters = counters
        self.supervision = supervision
    }

    /// Runs until the source is exhausted, given up, or its task is cancelled.
    ///
    /// What only failures need is made at the first one, in a call of its own: this call lasts as long as the source, and
    /// there may be thousands.
    func run() async -> NodeEnd {
        var failures: Failures?
        while true {
            let startedAt = context.clock.now
            do {
                try await start()
                return ended(Task.isCancelled ? .stopped : .completed)
            } catch {
                if failures == nil {
                    failures = Failures(seed: context.seed, policy: supervision, startedAt: startedAt)
                }
                if let end = await failed(error, startedAt, failures!) { return ended(end) }
            }
        }
    }

    private func ended(_ end: NodeEnd) -> NodeEnd {
        output.finish()
        return end
    }

    /// How it went so far. Used by the source's own task only.
    private final class Failures {
        var random: SplitMix64
        var restarts: RestartStateMachine

        init(seed: UInt64, policy: SupervisionPolicy, startedAt: Instant) {
            random = SplitMix64(seed: seed)
            restarts = RestartStateMachine(policy: policy, now: startedAt)
        }
    }

    /// Waits until the source may be started again; returns an end where it is not.
    private func failed(_ error: any Error, _ startedAt: Instant, _ failures: Failures) async -> NodeEnd? {
        if Task.isCancelled { return .stopped }
        let reason = describeError(error)
        // With --once a failure is the answer; later there is time to try again.
        if context.mode.once || (error as? FeedbusError)?.isRetriable == false { return .failed(reason) }
        failures.restarts.started(at: startedAt)
        switch failures.restarts.failed(at: context.clock.now, unit: failures.random.unit()) {
        case .giveUp(let count):
            return .failed("\(reason) (given up after \(count) restarts within \(supervision.within.text))")
        case .restart(let pause):
            counters.restarts.add(1)
            context.log.warning("failed: \(reason); starting again in \(pause.text)")
            do { try await context.clock.sleep(for: pause) } catch { return .stopped }
            return nil
        }
    }

    private func start() async throws {
        let source = try make(context)
        try await source.run(Output { events, cursors in try await self.emit(events, cursors) })
    }

    private func emit(_ events: consuming [Event], _ cursors: [CursorUpdate]) async throws {
        guard !events.isEmpty || !cursors.isEmpty else { return }
        // The receipt lives in the events only: when their last copy has gone, the cursors are due.
        let chunk = stamped(events, ledger.receipt(saving: cursors))
        guard !chunk.isEmpty else { return }
        counters.delivered.add(chunk.count)
        try await send(chunk)
    }

    private func stamped(_ events: consuming [Event], _ receipt: Receipt) -> Chunk<Event> {
        events.withUnsafeMutableBufferPointer { events in
            for index in events.indices { events[index].receipt = receipt }
        }
        return Chunk(events)
    }

    private func send(_ chunk: Chunk<Event>) async throws {
        do {
            try await output.send(chunk)
        } catch {
            // Given up in the middle: some consumers may not have it.
            chunk.report(.undelivered)
            throw error
        }
    }
}
