// feedbus: feeds one sink from its buffer, and tries again what it could not write.

import FeedbusBase
import FeedbusFlow
import FeedbusLoop
import FeedbusPlugin

/// Runs one sink node. Writes and reopenings never overlap.
actor SinkRunner {
    nonisolated let node: PlannedNode
    nonisolated let context: PluginContext
    nonisolated let edge: Edge<Event>
    nonisolated let counters: NodeCounters
    /// Where the events go that the sink fails on; nil where there is no store.
    nonisolated let letters: DeadLetterBox?
    private let make: @Sendable (PluginContext) throws -> any Sink
    /// Called when the sink takes no more events although more may come; true when no sink takes any, and none has had all.
    private let givenUp: @Sendable () async -> Bool
    private let limit: TimeLimit?
    private var sink: (any Sink)?
    private var isBusy = false
    private var wantsReopen = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { context.executor }

    /// The most events of one write.
    static let chunkLimit = 4_096

    init(
        node: PlannedNode, context: PluginContext, edge: Edge<Event>, counters: NodeCounters,
        letters: DeadLetterBox?, make: @escaping @Sendable (PluginContext) throws -> any Sink,
        givenUp: @escaping @Sendable () async -> Bool
    ) {
        self.node = node
        self.context = context
        self.edge = edge
        self.counters = counters
        self.letters = letters
        self.make = make
        self.givenUp = givenUp
        limit = TimeLimit(node.timeout, context)
    }

    private enum WriteEnd {
        case delivered
        case finished(String)
        case failed(String)
        case stopped
    }

    /// Runs until its input has ended, it has come to its own end, or it is given up.
    func run() async -> NodeEnd {
        isBusy = true
        let sink: any Sink
        do {
            sink = try make(context)
            self.sink = sink
        } catch {
            return await fail(describeError(error))
        }
        switch await attempts("open", { try await sink.open() }) {
        case .delivered: break
        case .finished(let reason): return await finish(reason)
        case .failed(let reason): return await fail(reason)
        case .stopped:
            await discardRest(nil)
            return .stopped
        }
        while true {
            await reopenIfWanted()
            isBusy = false
            let chunk: Chunk<Event>?
            do {
                chunk = try await edge.next(max: Self.chunkLimit)
            } catch is CancellationError {
                return .stopped
            } catch {
                return await fail(describeError(error))
            }
            isBusy = true
            guard let chunk else { break }
            let end = await attempts("write", { try await sink.write(chunk) }, again: { try await sink.open() })
            switch end {
            case .delivered:
                counters.delivered.add(chunk.count)
            case .finished(let reason):
                return await finish(reason, chunk)
            case .failed(let reason):
                if let letters {
                    await letters.put(chunk, reason: reason)
                } else {
                    counters.undelivered.add(chunk.leave())
                }
                return await fail(reason)
            case .stopped:
                counters.undelivered.add(chunk.leave())
                await discardRest(nil)
                return .stopped
            }
        }
        do { try await limited { try await sink.close() } } catch is SinkFinished {
        } catch {
            return .failed("closing failed: \(describeError(error))")
        }
        return .completed
    }

    /// SIGHUP: at once when idle, else after the write that is under way.
    func reopen() async {
        wantsReopen = true
        guard !isBusy else { return }
        isBusy = true
        await reopenIfWanted()
        isBusy = false
    }

    private func reopenIfWanted() async {
        guard wantsReopen, let sink else { return }
        wantsReopen = false
        do { try await sink.reopen() } catch {
            context.log.error("reopening failed: \(describeError(error))")
        }
    }

    private func limited(_ call: @escaping @Sendable () async throws -> Void) async throws {
        if let limit { try await limit.run(call) } else { try await call() }
    }

    /// Tries by the node's policy. `again` comes before every further try.
    private func attempts(
        _ what: String, _ operation: @escaping @Sendable () async throws -> Void,
        again: (@Sendable () async throws -> Void)? = nil
    ) async -> WriteEnd {
        var random = SplitMix64(seed: context.seed &+ UInt64(bitPattern: context.clock.now.nanoseconds))
        var failures = 0
        while true {
            do {
                if failures > 0, let again { try await limited(again) }
                try await limited(operation)
                if failures > 0 { context.log.info("\(what) succeeded at try \(failures + 1)") }
                return .delivered
            } catch let end as SinkFinished {
                return .finished(end.reason)
            } catch is CancellationError {
                return .stopped
            } catch {
                if Task.isCancelled { return .stopped }
                failures += 1
                let reason = "\(what) failed: \(describeError(error))"
                guard (error as? FeedbusError)?.isRetriable ?? true, failures < context.retry.attempts else {
                    return .failed(failures > 1 ? "\(reason) (tried \(failures) times)" : reason)
                }
                let pause = context.retry.pause(afterAttempt: failures, unit: random.unit())
                context.log.warning(
                    "\(reason); trying again in \(pause.text) (try \(failures) of \(context.retry.attempts))")
                do { try await context.clock.sleep(for: pause) } catch { return .stopped }
            }
        }
    }

    /// A sink that has come to its own end owes nothing to the others, which go on; but where it was the last, what it has
    /// not taken has arrived nowhere, and no cursor may say so.
    private func finish(_ reason: String, _ inHand: Chunk<Event> = Chunk()) async -> NodeEnd {
        guard await givenUp() else {
            edge.close()
            return .finished(reason: reason)
        }
        inHand.report(.undelivered)
        var count = inHand.count
        while let chunk = try? await edge.next() {
            chunk.report(.undelivered)
            count += chunk.count
        }
        if count > 0 {
            context.log.info(
                "\(counted(count, "event")) came too late for it; a source with a cursor gives them again at the next start"
            )
        }
        return .finished(reason: reason)
    }

    /// A failed sink takes in what comes, so that the others go on.
    private func fail(_ reason: String) async -> NodeEnd {
        context.log.error(
            letters == nil
                ? "given up: \(reason); its events are left undelivered; a source with a cursor gives them again at the next start"
                : "given up: \(reason); its events are set aside as dead letters, or stay in the log of a durable subject"
        )
        _ = await givenUp()
        await discardRest(reason)
        return .failed(reason)
    }

    private func discardRest(_ reason: String?) async {
        while let chunk = try? await edge.next() {
            await chunk.giveUp(reason, counters: counters, letters: letters)
        }
    }
}
