// feedbus: runs one marble case on the manual loop.

import FeedbusBase
import FeedbusFlow
import FeedbusTestKit
import Synchronization

/// One run of a case.
final class MarbleRun: Sendable {
    let item: MarbleCase
    let simulation: Simulation
    let sources: [String: MarbleSource]
    let flow: MarbleFlow
    let timelines: [Recorder<MarbleEvent>]
    let tasks = Mutex<[Int: Task<Void, Never>]>([:])

    /// What a case needs and this runner does not have; nil where it can run.
    static func lacks(_ item: MarbleCase) -> String? {
        let names = MarbleOperators.names.union(MarbleEngine.names)
        for step in item.steps {
            if !names.contains(step.op) { return "operator \(step.op)" }
            if let lack = MarbleFunctions.lacks(step) { return lack }
        }
        for (name, source) in item.sources {
            guard let kind = source["kind"]?.string else { return "source \(name) without a kind" }
            if !MarbleSource.kinds.contains(kind) { return "\(kind) sources" }
        }
        let unknown = item.inputs.first { item.sources[$0.source] == nil }
        return unknown.map { "source \($0.source)" }
    }

    let engine: MarbleEngine
    let operators: MarbleOperators
    let demands: [MarbleDemand?]

    /// - Parameter seed: cuts what a source emits at one moment into chunks; nil: one chunk.
    init(_ item: MarbleCase, _ simulation: Simulation, seed: UInt64? = nil) {
        self.item = item
        self.simulation = simulation
        let engine = MarbleEngine(item)
        self.engine = engine
        sources = Dictionary(
            uniqueKeysWithValues: item.sources.map { name, description in
                (
                    name,
                    MarbleSource(
                        engine.source ?? description, item.inputs.filter { $0.source == name }, clock: simulation.clock,
                        random: seed.map { SplitMix64(seed: $0) })
                )
            })
        operators = MarbleOperators(clock: simulation.clock, sources: sources.mapValues(\.flow))
        flow = operators.build(item.steps)
        demands = item.subscribers.map { $0.demand.map { _ in MarbleDemand(engine) } }
        timelines = item.subscribers.map { _ in Recorder() }
    }

    private var now: Int { Int(simulation.clock.now.nanoseconds / 1_000_000) }

    /// Plays the case to its end. What is due at one moment runs in the order of the file: sources, then subscribers.
    func play() async throws {
        var agenda: [(at: Int, action: @Sendable () async -> Void)] = []
        // What a source emits at one moment is one push: the source cuts it.
        var inputs = item.inputs.filter { !sources[$0.source]!.isCold }[...]
        while let first = inputs.popFirst() {
            var values = [first.next].compactMap { $0 }
            while first.next != nil, let next = inputs.first, next.source == first.source, next.at == first.at,
                let value = next.next
            {
                values.append(value)
                inputs.removeFirst()
            }
            agenda.append(
                (
                    first.at,
                    { [source = sources[first.source]!, values] in
                        await source.push(values, complete: first.complete == true, error: first.error)
                    }
                ))
        }
        for (index, subscriber) in item.subscribers.enumerated() {
            if let at = subscriber.subscribeAt { agenda.append((at, { self.subscribe(index) })) }
            if let at = subscriber.unsubscribeAt { agenda.append((at, { self.unsubscribe(index) })) }
            for demand in subscriber.demand ?? [] {
                agenda.append(
                    (demand["at"]!.int!, { [taker = demands[index]!] in await taker.ask(demand["n"]?.int ?? .max) }))
            }
        }
        for connectable in operators.connectables.values {
            for at in item.args["connect_at"]?.array ?? [.int(0)] {
                agenda.append((at.int!, { connectable.connect() }))
            }
            for at in item.args["disconnect_at"]?.array ?? [] {
                agenda.append((at.int!, { await connectable.disconnect() }))
            }
        }
        // All go to sleep at once, in the order of the file: so ties wake in that order, before any later sleeper.
        let actors = agenda.map { at, action in
            Task(executorPreference: simulation.loop) {
                try? await self.simulation.clock.sleep(until: Instant(nanoseconds: Int64(at) * 1_000_000))
                await action()
            }
        }
        for actor in actors { await actor.value }
        try await simulation.clock.sleep(for: .seconds(10))
    }

    /// Ends what is still subscribed, after the timelines were read.
    func stop() async {
        for (_, task) in tasks.withLock({ $0 }) {
            task.cancel()
            await task.value
        }
        for connectable in operators.connectables.values { await connectable.disconnect() }
    }

    private func subscribe(_ index: Int) {
        let task = Task.immediate(executorPreference: simulation.loop) {
            do {
                let flow = self.demands[index].map { $0.limit(self.flow) } ?? self.flow
                try await flow.collect { chunk in
                    for value in chunk {
                        try Task.checkCancellation()
                        await self.record(index, MarbleEvent(at: self.now, next: value))
                    }
                }
                if Task.isCancelled { return }
                await self.record(index, MarbleEvent(at: self.now, complete: true))
            } catch let error as FeedbusError {
                let names = ["flow.timeout": "timeout", "flow.out-of-range": "outOfRange"]
                await self.record(index, MarbleEvent(at: self.now, error: names[error.code.name] ?? error.code.name))
            } catch is EdgeOverflow {
                let name = self.item.operator == "pekko.buffer" ? "BufferOverflow" : "MissingBackpressureException"
                await self.record(index, MarbleEvent(at: self.now, error: name))
            } catch {
                if error is CancellationError { return }
                await self.record(index, MarbleEvent(at: self.now, error: describe(error)))
            }
        }
        tasks.withLock { $0[index] = task }
    }

    private func unsubscribe(_ index: Int) { tasks.withLock { $0[index] }?.cancel() }

    private func record(_ index: Int, _ event: MarbleEvent) async {
        timelines[index].append(event)
        for script in item.subscribers[index].on ?? [] {
            let isDue =
                if let next = script.when.next { event.next == next } else if script.when.complete == true {
                    event.complete == true
                } else { event.error != nil }
            guard isDue else { continue }
            for action in script.do { await perform(action, by: index) }
        }
    }

    private func perform(_ action: MarbleValue, by index: Int) async {
        if let push = action["push"] {
            await sources[push["source"]!.string!]!.push(
                [push["next"]].compactMap { $0 }, complete: push["complete"] == .bool(true),
                error: push["error"]?.string)
        }
        if let other = action["subscribe"]?.int { subscribe(other) }
        if let other = action["unsubscribe"]?.int {
            if other == index { withUnsafeCurrentTask { $0?.cancel() } }
            unsubscribe(other)
        }
    }
}
