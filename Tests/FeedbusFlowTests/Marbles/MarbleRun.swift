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

    /// Why a case cannot run yet; nil if it can.
    static func lacks(_ item: MarbleCase) -> String? {
        if let engine = item.engine { return "demand of \(engine)" }
        if let step = item.steps.first(where: { !MarbleOperators.names.contains($0.op) }) { return step.op }
        for source in item.sources.values {
            let kind = source["kind"]!.string!
            if !MarbleSource.kinds.contains(kind) { return "\(kind) subject" }
            if source["window_ms"] != nil { return "replay by time" }
        }
        return nil
    }

    init(_ item: MarbleCase, _ simulation: Simulation) {
        self.item = item
        self.simulation = simulation
        sources = Dictionary(
            uniqueKeysWithValues: item.sources.map { name, description in
                (
                    name,
                    MarbleSource(description, item.inputs.filter { $0.source == name }, clock: simulation.clock)
                )
            })
        flow = MarbleOperators(clock: simulation.clock, sources: sources.mapValues(\.flow)).build(item.steps)
        timelines = item.subscribers.map { _ in Recorder() }
    }

    private var now: Int { Int(simulation.clock.now.nanoseconds / 1_000_000) }

    /// Plays the case to its end. What is due at one moment runs in the order of the file: sources, then subscribers.
    func play() async throws {
        var agenda: [(at: Int, action: @Sendable () async -> Void)] = []
        for input in item.inputs where !sources[input.source]!.isCold {
            agenda.append(
                (
                    input.at,
                    { [source = sources[input.source]!] in
                        await source.push(next: input.next, complete: input.complete == true, error: input.error)
                    }
                ))
        }
        for (index, subscriber) in item.subscribers.enumerated() {
            if let at = subscriber.subscribeAt { agenda.append((at, { self.subscribe(index) })) }
            if let at = subscriber.unsubscribeAt { agenda.append((at, { self.unsubscribe(index) })) }
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
    }

    private func subscribe(_ index: Int) {
        let task = Task.immediate(executorPreference: simulation.loop) {
            do {
                try await self.flow.collect { chunk in
                    for value in chunk {
                        try Task.checkCancellation()
                        await self.record(index, MarbleEvent(at: self.now, next: value))
                    }
                }
                if Task.isCancelled { return }
                await self.record(index, MarbleEvent(at: self.now, complete: true))
            } catch let error as FeedbusError {
                await self.record(
                    index, MarbleEvent(at: self.now, error: error.code.name == "flow.timeout" ? "timeout" : ""))
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
                next: push["next"], complete: push["complete"] == .bool(true), error: push["error"]?.string)
        }
        if let other = action["subscribe"]?.int { subscribe(other) }
        if let other = action["unsubscribe"]?.int {
            if other == index { withUnsafeCurrentTask { $0?.cancel() } }
            unsubscribe(other)
        }
    }
}
