// feedbus: the running graph: wires the nodes of a plan, supervises them, and ends them in order.

import FeedbusBase
import FeedbusFlow
import FeedbusLoop
import FeedbusPlugin
import FeedbusStore

/// A graph that runs. One actor on the first loop; made for one run. Its nodes may run on others.
package actor Graph {
    nonisolated let plan: Plan
    nonisolated let services: GraphServices
    private nonisolated let executor: UnownedSerialExecutor
    /// The time of stages and sinks, for each loop.
    private let graceClocks: [GraceClock]
    private let loops: [GraphLoop]
    private let placement: LoopPlacement

    /// One for each node that reads; of a join, one for each node that it reads.
    var edges: [String: [StageRunner.Input]] = [:]
    private var sinks: [String: SinkRunner] = [:]
    var durables: [String: DurableSubject] = [:]
    /// The places of the readers of durable subjects.
    var places: [CursorLedger] = []
    var nodes: [String: NodeServices] = [:]
    var dropNotices: [String: DropNotice] = [:]
    private var sources: [String: SourceRunner] = [:]
    /// The polls of sources that sleep.
    nonisolated let timetable: PollTimetable
    private var consumerTasks: [Task<Void, any Error>] = []
    private var graceTask: Task<Void, any Error>?
    /// Nodes whose task has not ended.
    private var running: Set<String> = []
    private var runningSources = 0
    private var activeSinks: Set<String> = []
    /// A sink has had all events, to the end of its input.
    private var hasCompleteSink = false
    private var failures: [(node: String, reason: String)] = []
    private var isStopping = false
    private var hasEnded = false
    private var gaveUp = false
    /// What the logs of durable subjects have for a reader at the next start, by its name.
    private var kept: [String: Int] = [:]
    private var endWaiter: CheckedContinuation<Void, Never>?

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor }

    package init(plan: Plan, services: GraphServices) {
        self.plan = plan
        self.services = services
        self.executor = services.host.serialExecutor
        loops = [GraphLoop(host: services.host, clock: services.clock)] + services.moreLoops
        graceClocks = loops.map { GraceClock($0.clock, host: $0.host) }
        placement = LoopPlacement(plan.nodes, loops: loops.count)
        timetable = PollTimetable(
            clock: services.clock, host: services.host, crowdHasGone: services.memoryIsFree)
    }

    // MARK: - Running

    /// Wires and starts everything, and returns when all of it has ended and every cursor that may be saved is.
    package func run() async -> GraphReport {
        let started = services.clock.now
        await start()
        if !running.isEmpty { await withCheckedContinuation { endWaiter = $0 } }
        for box in allLetters { await box.settle() }
        await settle()
        for (_, subject) in inOrder(durables) {
            for (reader, count) in await subject.close() { kept[reader, default: 0] += count }
        }
        hasEnded = true
        timetable.stop()
        graceTask?.cancel()
        // They hold the graph, which would never go.
        sinks = [:]
        sources = [:]
        return report(since: started)
    }

    /// Returns when every emission has settled and every cursor is saved, or the shutdown grace is over: a plugin that hangs
    /// may hold events for ever, and a state folder may be gone for good.
    private func settle() async {
        // Told to stop, the grace is running already.
        let bound =
            isStopping
            ? nil
            : services.host.task { [services, grace = plan.settings.shutdownGrace] in
                try await services.clock.sleep(for: grace)
                await self.giveUpLedgers()
            }
        for (_, source) in inOrder(sources) { await source.ledger.settle() }
        for ledger in places { await ledger.settle() }
        bound?.cancel()
    }

    /// What has not settled by now is not waited for: it comes again at the next start.
    private func giveUpLedgers() {
        for ledger in inOrder(sources).map(\.value.ledger) + places {
            if let reason = ledger.giveUp() { failures.append((ledger.node, reason)) }
        }
    }

    private func start() async {
        let common = NodeServices.Surroundings(
            log: services.log, clock: services.clock, loadCursor: services.loadCursor, makeLetters: makeLetters)
        for node in plan.nodes { nodes[node.name] = NodeServices(node: node.name, graph: common) }
        let outputs = await wire()
        let keeper = CursorKeeper(
            log: services.log, clock: services.clock, host: services.host, save: services.saveCursors)
        // A source is cancelled at the stop; the others finish what they have.
        let ofSources = surroundings(loops[0], services.clock)
        let ofOthers = zip(loops, graceClocks).map { surroundings($0, $1) }
        for node in plan.nodes {
            var shared = ofOthers[placement[node.name]]
            if case .source = node.role { shared = ofSources }
            let nodeServices = nodes[node.name]!
            let context = PluginContext(
                node: node.name, log: services.log.named(node.name), retry: node.retry, onError: node.onError,
                seed: seed(of: node), shared: shared, services: nodeServices)
            switch node.role {
            case .subject:
                guard let subject = durables[node.name] else { break }
                running.insert(node.name)
                consumerTasks.append(task(of: node) { await self.ended(node.name, await subject.run()) })
            case .source(let make):
                running.insert(node.name)
                runningSources += 1
                let runner = SourceRunner(
                    make: make, context: context, output: outputs[node.name]!,
                    ledger: CursorLedger(node: node.name, keeper: keeper), counters: nodeServices.counters, graph: self)
                sources[node.name] = runner
                runner.start()
            case .stage(let make):
                startStage(node, .one(workers: node.workers, make), context, [outputs[node.name]])
            case .join(let make):
                startStage(node, .join(make), context, [outputs[node.name]])
            case .routing(let routes, let make):
                startStage(
                    node, .routing(make), context,
                    (routes + [PlannedNode.unmatched]).map { outputs["\(node.name).\($0)"] })
            case .sink(let make):
                running.insert(node.name)
                activeSinks.insert(node.name)
                let runner = SinkRunner(
                    node: node, context: context, edge: edges[node.name]![0].edge, counters: nodeServices.counters,
                    letters: nodeServices.letters, make: make,
                    givenUp: { await self.sinkIsDone(node.name) })
                sinks[node.name] = runner
                consumerTasks.append(task(of: node) { await self.ended(node.name, await runner.run()) })
            }
        }
    }

    private func startStage(
        _ node: PlannedNode, _ make: StageMaker, _ context: PluginContext, _ outputs: [NodeOutput?]
    ) {
        running.insert(node.name)
        let runner = StageRunner(
            node: node, make: make, context: context, inputs: edges[node.name]!, outputs: outputs,
            counters: nodes[node.name]!.counters, supervision: plan.settings.supervision,
            letters: nodes[node.name]!.letters,
            isStopping: { [graceClock] in graceClock.isStopping })
        consumerTasks.append(task(of: node) { await self.ended(node.name, await runner.run()) })
    }

    private nonisolated func surroundings(_ loop: GraphLoop, _ clock: any EventClock) -> Boxed<PluginSurroundings> {
        Boxed(
            PluginSurroundings(
                clock: clock, mode: services.mode, host: loop.host, directory: plan.settings.directory,
                headline: services.headline, http: services.http))
    }

    private func seed(of node: PlannedNode) -> UInt64 {
        node.name.utf8.reduce(services.seed) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    /// Makes the dead letters of a node; nil where there is no store for them.
    private var makeLetters: (@Sendable (_ node: String, NodeCounters) -> DeadLetterBox)? {
        guard let store = services.store else { return nil }
        return { [services, cap = plan.settings.deadLetters, authors = LetterAuthors()] node, counters in
            DeadLetterBox(
                node: node, store: store, cap: cap, log: services.log.named(node), clock: services.clock,
                host: services.host, counters: counters, authors: authors)
        }
    }

    private var allLetters: [DeadLetterBox] {
        plan.nodes.compactMap { nodes[$0.name]?.madeLetters }
    }

    /// A node's own task, on its loop.
    private func task(
        of node: PlannedNode, _ operation: @escaping @Sendable () async -> Void
    ) -> Task<Void, any Error> {
        loops[placement[node.name]].host.task { await operation() }
    }

    /// The time of what is neither stage nor sink and yet must not wait beyond the grace.
    var graceClock: GraceClock { graceClocks[0] }

    // MARK: - Ends of nodes

    func ended(_ node: String, _ end: NodeEnd) {
        running.remove(node)
        let wasSource = sources[node] != nil
        if wasSource { runningSources -= 1 }
        let log = services.log.named(node)
        switch end {
        case .completed: log.debug("completed")
        case .stopped: log.debug("stopped")
        case .finished(let reason): log.info(reason)
        case .failed(let reason):
            failures.append((node, reason))
            // A sink or stage has said so when it was given up.
            if wasSource { log.error("given up: \(reason)") }
        }
        if sinks[node] != nil {
            if case .completed = end { hasCompleteSink = true }
            sinkIsDone(node)
        }
        if wasSource && runningSources == 0 && !isStopping && !services.mode.once {
            if failures.contains(where: { sources[$0.node] != nil }) {
                stop(because: "no source is left")
            } else if !running.isEmpty {
                services.log.info(
                    "every source has come to its end; stop with SIGTERM or SIGINT (--once ends by itself)")
                keepAlive()
            }
        }
        if running.isEmpty {
            endWaiter?.resume()
            endWaiter = nil
        }
    }

    /// Without `--once` the program stays until it is told to stop.
    private func keepAlive() {
        running.insert(Self.patience)
    }

    /// Stands in `running` for a program that has nothing to do but wait.
    private static let patience = " "

    /// A sink takes no more events. When none does, there is nothing to poll for.
    /// - Returns: true when none is left, and none has had all events.
    @discardableResult
    private func sinkIsDone(_ node: String) -> Bool {
        activeSinks.remove(node)
        if activeSinks.isEmpty && runningSources > 0 { stop(because: "no sink is left") }
        return activeSinks.isEmpty && !hasCompleteSink
    }

    // MARK: - Stopping

    /// Ends the sources, lets everything that they have emitted arrive, and gives up when the grace is over.
    package func stop(because reason: String) {
        // A signal may come when all is over, and then a grace would begin that nobody ends.
        guard !isStopping, !hasEnded else { return }
        isStopping = true
        running.remove(Self.patience)
        services.log.info("stopping: \(reason)", ["grace": plan.settings.shutdownGrace.text])
        for (_, source) in inOrder(sources) { source.cancel() }
        timetable.stop()
        if running.isEmpty {
            endWaiter?.resume()
            endWaiter = nil
        }
        let grace = plan.settings.shutdownGrace
        let end = services.clock.now + grace
        for clock in graceClocks { clock.stop(by: end) }
        graceTask = services.host.task { [services] in
            try await services.clock.sleep(for: grace)
            await self.giveUp()
            // Nodes end at once when their buffers do; only a plugin that hangs in a call of its own does not.
            try await services.clock.sleep(for: .seconds(1))
            await self.abandon()
        }
    }

    private func giveUp() {
        gaveUp = true
        for (node, inputs) in inOrder(edges) {
            // What waits in front of a buffer that reads durable subjects alone is in their logs.
            let from = plan.nodes.first { $0.name == node }?.from ?? []
            let isKept = from.allSatisfy { durables[$0] != nil }
            for edge in inputs.map(\.edge) {
                let waiting = isKept ? 0 : edge.waitingCount
                nodes[node]!.counters.undelivered.add(edge.abort().leave() + waiting)
            }
        }
        for task in consumerTasks { task.cancel() }
    }

    private func abandon() {
        giveUpLedgers()
        for node in running.sorted() {
            failures.append((node, "it did not end within the shutdown grace"))
            services.log.named(node).error("does not end; left behind")
        }
        running = []
        endWaiter?.resume()
        endWaiter = nil
    }

    /// SIGHUP.
    package func reopen() async {
        services.log.info("SIGHUP: files are opened anew (this version does not reload the config)")
        for (_, sink) in inOrder(sinks) { await sink.reopen() }
    }

    // MARK: - Watching

    /// A buffer that holds more than its config allows; nil, as it should be. For tests.
    package var overfullBuffer: String? {
        for node in plan.nodes {
            guard let inputs = edges[node.name] else { continue }
            let limit = node.buffer.whenFull == .latest ? 1 : node.buffer.events
            for edge in inputs.map(\.edge) where edge.count > limit {
                return "the buffer of \(node.name) holds \(edge.count) of at most \(limit) events"
            }
        }
        return nil
    }

    /// Emissions of each source that have not settled, and whether the shutdown grace was over before all had arrived.
    package var remains: (openReceipts: [String: Int], hasGivenUp: Bool) {
        (sources.mapValues(\.ledger.openCount).filter { $0.value > 0 }, gaveUp)
    }

    /// What belongs to nodes, in the order of the plan: a dictionary's own order differs from run to run.
    private func inOrder<Value>(_ values: [String: Value]) -> [(node: String, value: Value)] {
        plan.nodes.compactMap { node in values[node.name].map { (node.name, $0) } }
    }

    // MARK: - Report

    private func report(since started: Instant) -> GraphReport {
        for (_, notice) in inOrder(dropNotices) { notice.finish() }
        for (_, services) in inOrder(nodes) { services.finish() }
        for box in allLetters { box.finish() }
        return GraphReport(
            nodes: plan.nodes.map { node in
                let counters = nodes[node.name]!.counters
                return GraphReport.Node(
                    name: node.name, role: node.role, delivered: counters.delivered.get(),
                    dropped: counters.dropped.get(), refused: counters.refused.get(),
                    deadLettered: counters.deadLettered.get(), lettersDropped: counters.lettersDropped.get(),
                    unmatched: unmatched(of: node),
                    undelivered: counters.undelivered.get(), kept: kept[node.name, default: 0],
                    failure: failures.first { $0.node == node.name }?.reason)
            },
            elapsed: services.clock.now - started)
    }
}
