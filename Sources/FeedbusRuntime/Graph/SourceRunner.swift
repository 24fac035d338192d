// feedbus: runs one source, and starts it again when it fails.

import FeedbusBase
import FeedbusFlow
import FeedbusPlugin

/// Supervises one source node.
struct SourceRunner: Sendable {
    let node: PlannedNode
    let make: @Sendable (PluginContext) throws -> any Source
    let context: PluginContext
    let output: NodeOutput
    let ledger: CursorLedger
    let counters: NodeCounters
    let supervision: SupervisionPolicy

    /// Runs until the source is exhausted, given up, or its task is cancelled.
    func run() async -> NodeEnd {
        var random = SplitMix64(seed: context.seed)
        var restarts = RestartStateMachine(policy: supervision, now: context.clock.now)
        let end: NodeEnd
        supervised: while true {
            restarts.started(at: context.clock.now)
            do {
                try await start()
                end = Task.isCancelled ? .stopped : .completed
                break
            } catch {
                if Task.isCancelled {
                    end = .stopped
                    break
                }
                let reason = describeError(error)
                // With --once a failure is the answer; later there is time to try again.
                if context.mode.once || (error as? FeedbusError)?.isRetriable == false {
                    end = .failed(reason)
                    break
                }
                switch restarts.failed(at: context.clock.now, unit: random.unit()) {
                case .giveUp(let count):
                    end = .failed("\(reason) (given up after \(count) restarts within \(supervision.within.text))")
                    break supervised
                case .restart(let pause):
                    counters.restarts.add(1)
                    context.log.warning("failed: \(reason); starting again in \(pause.text)")
                    do { try await context.clock.sleep(for: pause) } catch {
                        end = .stopped
                        break supervised
                    }
                }
            }
        }
        output.finish()
        return end
    }

    private func start() async throws {
        let source = try make(context)
        try await source.run(Output { events, cursors in try await emit(events, cursors) })
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
