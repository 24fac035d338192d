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
        for (name, source) in item.sources {
            guard let kind = source["kind"]?.string else { return "source \(name) without a kind" }
            if !MarbleSource.kinds.contains(kind) { return "\(kind) sources" }
        }
        if let unknown = item.inputs?.first(where: { item.sources[$0.source] == nil }) {
            return "source \(unknown.source)"
        }
        if item.expect.count != item.subscribers.count { return "an expectation for each subscriber" }
        let sources = item.sources.mapValues { _ in MarbleFlow.never }
        do {
            _ = try MarbleOperators(clock: VirtualClock(loop: ManualLoop()), sources: sources).build(item.steps)
        } catch {
            return "\(error)"
        }
        return nil
    }

    let engine: MarbleEngine
    let operators: MarbleOperators
    let demands: [MarbleDemand?]
    /// Time 0 of the case. Not the clock's own: who sleeps until then is put in order with all others.
    let origin: Instant

    init(_ item: MarbleCase, _ simulation: Simulation, cuts: MarbleCuts) throws {
        self.item = item
        self.simulation = simulation
        let engine = MarbleEngine(item)
        let origin = simulation.clock.now + .seconds(1)
        self.engine = engine
        self.origin = origin
        let shared = Self.shared(item)
        sources = Dictionary(
            uniqueKeysWithValues: item.sources.map { name, description in
                (
                    name,
                    MarbleSource(
                        engine.source ?? description, (item.inputs ?? []).filter { $0.source == name },
                        clock: simulation.clock, origin: origin, cuts: shared.contains(name) ? .single : cuts)
                )
            })
        operators = MarbleOperators(
            clock: simulation.clock, sources: sources.mapValues(\.flow), overflow: engine.overflow)
        flow = try operators.build(item.steps)
        demands = item.subscribers.map { $0.demand.map { _ in MarbleDemand(engine) } }
        timelines = item.subscribers.map { _ in Recorder() }
        joins = cuts.joins && !item.subscribers.contains { $0.on != nil }
        self.shared = shared
    }

    /// Values of one source and moment are one emission: not where a subscriber does something in between.
    private let joins: Bool
    /// Sources that one collection may subscribe several times at once. What meets again further down comes in the order of
    /// the emissions: each must be over before the next.
    private let shared: Set<String>

    private static func shared(_ item: MarbleCase) -> Set<String> {
        var seen: Set = ["s"]
        var shared: Set<String> = []
        func look(_ value: MarbleValue, isMany: Bool = false) {
            switch value {
            case .string(let name):
                if isMany || !seen.insert(name).inserted { shared.insert(name) }
            case .array(let values): for value in values { look(value, isMany: isMany) }
            case .object(let members): for (name, value) in members { look(value, isMany: isMany || name == "inner") }
            default: break
            }
        }
        for step in item.steps { look(step.args) }
        return shared
    }

    private var now: Int { Int((simulation.clock.now - origin) / .milliseconds(1)) }

    /// Plays the case to its end. What is due at one moment runs in the order of the file: sources, then subscribers.
    func play() async throws {
        var agenda: [(at: Int, action: @Sendable () async -> Void)] = []
        var inputs = (item.inputs ?? []).filter { !sources[$0.source]!.isCold }[...]
        while let first = inputs.popFirst() {
            var values = [first.next].compactMap { $0 }
            // What a source emits at one moment is one push, which the source cuts.
            while joins, !shared.contains(first.source), first.next != nil, let next = inputs.first,
                next.source == first.source, next.at == first.at, let value = next.next
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
                guard let at = demand["at"]?.int, let taker = demands[index] else { continue }
                agenda.append((at, { await taker.ask(demand["n"]?.int ?? .max) }))
            }
        }
        for (index, connectable) in operators.connectables.values.enumerated() {
            let step = item.steps.filter { MarbleNames.canonical($0.op) == "publishConnect" }.dropFirst(index).first
            let args = MarbleArguments("publishConnect", step?.args ?? .null)
            for at in args.value("connect_at")?.array ?? [.int(0)] {
                agenda.append((at.int ?? 0, { connectable.connect() }))
            }
            for at in args.value("disconnect_at")?.array ?? [] {
                agenda.append((at.int ?? 0, { await connectable.disconnect() }))
            }
        }
        // All go to sleep at once, in the order of the file: so ties wake in that order, before any later sleeper.
        let actors = agenda.map { at, action in
            Task(executorPreference: simulation.loop) {
                try? await self.simulation.clock.sleep(until: self.origin + .milliseconds(at))
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
            } catch {
                if error is CancellationError { return }
                await self.record(index, MarbleEvent(at: self.now, error: self.operators.name(of: error)))
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
            await sources[push["source"]?.string ?? "s"]?.push(
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
