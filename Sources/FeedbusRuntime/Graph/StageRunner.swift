// feedbus: runs one stage between its buffers and its consumers, and starts it again when it fails.

import FeedbusBase
import FeedbusFlow
import FeedbusPlugin

/// What a stage node makes at each start.
enum StageMaker: Sendable {
    case one(workers: Int, @Sendable (PluginContext) throws -> any Stage)
    case join(@Sendable (PluginContext) throws -> any JoinStage)
    case routing(@Sendable (PluginContext) throws -> any RoutingStage)
}

/// Supervises one stage node.
struct StageRunner: Sendable {
    /// A buffer, with the name of what fills it. A join has several; the others have one, for all that they read.
    struct Input: Sendable {
        var node: String
        var edge: Edge<Event>
    }

    let node: PlannedNode
    let make: StageMaker
    let context: PluginContext
    let inputs: [Input]
    /// One; with routes, one for each and one for the rest, nil where nobody reads that.
    let outputs: [NodeOutput?]
    let counters: NodeCounters
    let supervision: SupervisionPolicy
    /// Where the events go on which the stage fails; nil where there is no store.
    let letters: DeadLetterBox?
    /// The program has been told to stop.
    let isStopping: @Sendable () -> Bool

    /// Runs until its input has ended, the stage has completed by itself, or it is given up.
    func run() async -> NodeEnd {
        var random = SplitMix64(seed: context.seed)
        var restarts = RestartStateMachine(policy: supervision, now: context.clock.now)
        let end: NodeEnd
        /// Of the failure that ended it.
        var lastReason: String?
        supervised: while true {
            restarts.started(at: context.clock.now)
            let receipts = StageReceipts(clock: context.clock, host: context.host)
            do {
                let reason = try await start(receipts)
                if case .join = make, isStopping() { leaveOpen(receipts.interrupted()) } else { receipts.completed() }
                end = reason.map { .finished(reason: $0) } ?? .completed
                break
            } catch {
                let failure = error as? StageFailure
                let error = failure?.error ?? error
                if Task.isCancelled || (error is CancellationError && isStopping()) {
                    // What it has let go is on its way; the rest is to come again.
                    counters.undelivered.add((failure?.lost.leave() ?? 0) + receipts.interrupted())
                    end = .stopped
                    break
                }
                // Whatever the stage had taken in and not let go is not safe.
                let lost = receipts.failed()
                let events = failure?.lost ?? lost.events
                counters.undelivered.add(lost.others)
                let reason = describeError(error)
                let left = await setAside(events, reason)
                // A buffer that has failed stays so: to start the stage again would not help.
                let action =
                    context.mode.once || error is EdgeOverflow || (error as? FeedbusError)?.isRetriable == false
                    ? .giveUp(restarts: 0) : restarts.failed(at: context.clock.now, unit: random.unit())
                switch action {
                case .giveUp:
                    end = .failed(reason + left)
                    lastReason = reason
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
            for input in inputs { input.edge.close() }
        case .failed(let reason):
            // Said at once, and not when the input ends, which may be in a year.
            context.log.error(
                "given up: \(reason); what comes for it is"
                    + " \(letters == nil ? "left undelivered" : "set aside as dead letters, or stays in the log of a durable subject")"
            )
            await discardRest(lastReason)
        case .stopped:
            await discardRest(nil)
        }
        for output in outputs { output?.finish() }
        return end
    }

    /// Sets events aside on which the stage failed.
    /// - Returns: what to say of them.
    private func setAside(_ events: Chunk<Event>, _ reason: String) async -> String {
        guard !events.isEmpty else { return "" }
        guard let letters else {
            counters.undelivered.add(events.leave())
            return "; \(counted(events.count, "event")) under way left undelivered"
        }
        await letters.put(events, reason: reason)
        return "; \(counted(events.count, "event")) under way set aside as dead letters"
    }

    /// A join whose inputs ended because the program stops may hold events that have found no partner, and not have
    /// asked for others. They are not lost: their sources give them again.
    private func leaveOpen(_ inside: Int) {
        var count = inside
        for input in inputs {
            let rest = input.edge.close()
            rest.report(.undelivered)
            count += rest.count
        }
        if count > 0 {
            context.log.info(
                "\(counted(count, "event")) waited for others when the program had to stop; a source with a cursor gives"
                    + " them again at the next start")
        }
    }

    /// - Returns: why the stage came to its own end, if it has something to say about it.
    private func start(_ receipts: StageReceipts) async throws -> String? {
        switch make {
        case .one(let workers, let make):
            let stage = try make(context)
            if let stage = stage as? any ChunkStage {
                let runner = ChunkRunner(
                    edge: inputs[0].edge, output: outputs[0]!, counters: counters,
                    limit: TimeLimit(node.timeout, context))
                guard workers > 1 else { return try await runner.run(stage) }
                let others = try (1..<workers).map { _ in
                    guard let another = try make(context) as? any ChunkStage else {
                        preconditionFailure("a plugin makes stages of one type")
                    }
                    return another
                }
                // What waits in the buffer is shared out.
                let limit = (node.buffer.events + workers - 1) / workers
                let team = WorkersRunner(
                    runner, workers: workers, chunkLimit: limit, weightLimit: node.buffer.bytes, host: context.host)
                return try await team.run([stage] + others)
            }
            try await collect(try await stage.transform(flow(of: inputs[0], receipts)), receipts)
        case .join(let make):
            let stage = try make(context)
            let inputs = inputs.map { StageInput(node: $0.node, events: flow(of: $0, receipts)) }
            try await collect(try await stage.transform(inputs), receipts)
        case .routing(let make):
            let stage = try make(context)
            let runner = RoutingRunner(
                edge: inputs[0].edge, outputs: outputs, counters: counters, limit: TimeLimit(node.timeout, context))
            return try await runner.run(stage)
        }
        return nil
    }

    private func flow(of input: Input, _ receipts: StageReceipts) -> Flow<Event> {
        Flow { [edge = input.edge] emit in
            try await edge.drain { try await emit(receipts.entering($0)) }
        }
    }

    private func collect(_ flow: Flow<Event>, _ receipts: StageReceipts) async throws {
        try await flow.collect { [output = outputs[0]!, counters] chunk in
            counters.delivered.add(chunk.count)
            try await output.send(receipts.leaving(chunk))
        }
    }

    /// A stage that is given up takes in what comes, so that the other consumers go on.
    private func discardRest(_ reason: String?) async {
        await withTaskGroup(of: Void.self) { group in
            for input in inputs {
                group.addImmediateTask { [counters, letters] in
                    while let chunk = try? await input.edge.next() {
                        await chunk.giveUp(reason, counters: counters, letters: letters)
                    }
                }
            }
        }
    }
}
