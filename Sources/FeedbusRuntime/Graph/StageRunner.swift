// feedbus: runs one stage between its buffer and its consumers, and starts it again when it fails.

import FeedbusBase
import FeedbusFlow
import FeedbusPlugin

/// Supervises one stage node.
struct StageRunner: Sendable {
    let node: PlannedNode
    let make: @Sendable (PluginContext) throws -> any Stage
    let context: PluginContext
    let edge: Edge<Event>
    let output: NodeOutput
    let counters: NodeCounters
    let supervision: SupervisionPolicy
    /// The program has been told to stop.
    let isStopping: @Sendable () -> Bool

    /// Runs until its input has ended, the stage has completed by itself, or it is given up.
    func run() async -> NodeEnd {
        var random = SplitMix64(seed: context.seed)
        var restarts = RestartStateMachine(policy: supervision, now: context.clock.now)
        let end: NodeEnd
        supervised: while true {
            restarts.started(at: context.clock.now)
            let receipts = StageReceipts(clock: context.clock, host: context.host)
            do {
                let reason = try await start(receipts)
                receipts.completed()
                end = reason.map { .finished(reason: $0) } ?? .completed
                break
            } catch {
                // Whatever the stage had taken in and not let go is not safe.
                let count = receipts.failed() + ((error as? StageFailure)?.lost ?? 0)
                let error = (error as? StageFailure)?.error ?? error
                counters.undelivered.add(count)
                if Task.isCancelled || (error is CancellationError && isStopping()) {
                    end = .stopped
                    break
                }
                let reason = describeError(error)
                let left =
                    count > 0 ? "; \(counted(count, "event")) under way left undelivered" : ""
                let action =
                    context.mode.once || (error as? FeedbusError)?.isRetriable == false
                    ? .giveUp(restarts: 0) : restarts.failed(at: context.clock.now, unit: random.unit())
                switch action {
                case .giveUp:
                    end = .failed(reason + left)
                    break supervised
                case .restart(let pause):
                    counters.restarts.add(1)
                    context.log.warning("failed: \(reason)\(left); starting again in \(pause.text)")
                    do { try await context.clock.sleep(for: pause) } catch {
                        end = .stopped
                        break supervised
                    }
                }
            }
        }
        switch end {
        case .completed, .finished:
            // A stage that completed by itself owes nothing for what still waits.
            edge.close()
        case .failed, .stopped:
            await discardRest()
        }
        output.finish()
        return end
    }

    /// - Returns: why the stage came to its own end, if it has something to say about it.
    private func start(_ receipts: StageReceipts) async throws -> String? {
        let stage = try make(context)
        if let stage = stage as? any ChunkStage {
            return try await ChunkRunner(edge: edge, output: output, counters: counters).run(stage)
        }
        let edge = self.edge
        let input = Flow<Event> { emit in
            while let chunk = try await edge.next() {
                try await emit(receipts.entering(chunk))
            }
        }
        try await stage.transform(input).collect { [output, counters] chunk in
            counters.delivered.add(chunk.count)
            try await output.send(receipts.leaving(chunk))
        }
        return nil
    }

    /// A failed stage takes in what comes, so that the other consumers go on, and says that it is not delivered.
    private func discardRest() async {
        while let chunk = try? await edge.next() {
            chunk.report(.undelivered)
            counters.undelivered.add(chunk.count)
        }
    }
}
