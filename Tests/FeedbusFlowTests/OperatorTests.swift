// feedbus: what every operator must do, whatever it does.

import FeedbusBase
import FeedbusFlow
import FeedbusTestKit
import Testing

@Suite struct OperatorTests {
    @Test(arguments: allOperatorCases) func emitsItsValuesAndCompletes(_ operation: OperatorCase) throws {
        try Simulation.run { simulation in
            let probe = Probe(1...6)
            let outcome = await Outcome(of: operation.build(probe.flow, simulation.clock))
            #expect(outcome == Outcome(operation.values))
            #expect(probe.released == probe.collections)
        }
    }

    @Test(arguments: allOperatorCases) func completesOnAnEmptyInput(_ operation: OperatorCase) throws {
        try Simulation.run { simulation in
            let probe = Probe([[Int]]())
            let outcome = await Outcome(of: operation.build(probe.flow, simulation.clock))
            #expect(outcome == Outcome(operation.empty))
        }
    }

    @Test(arguments: allOperatorCases.filter { $0.beforeError != nil })
    func passesAnErrorOn(_ operation: OperatorCase) throws {
        try Simulation.run { simulation in
            let probe = Probe(1...4, error: TestError("E"))
            let outcome = await Outcome(of: operation.build(probe.flow, simulation.clock))
            #expect(outcome.error == operation.errorOutcome)
            // Where flows run at once, an error may overtake what they still hold.
            #expect(operation.beforeError!.isEmpty || outcome.elements == operation.beforeError!)
            #expect(probe.released == probe.collections)
        }
    }

    /// The failure of one branch cancels the consumer's work in another; what the consumer makes of that hides nothing.
    @Test(arguments: allOperatorCases.filter { $0.beforeError != nil && $0.errorOutcome != nil })
    func anErrorIsSeenWhileTheConsumerIsBusy(_ operation: OperatorCase) throws {
        for isNested in [false, true] {
            try Simulation.run { simulation in
                let clock = simulation.clock
                let upstream = Flow<Int> { emit in
                    for number in 1...4 {
                        try await emit([number])
                        try await clock.sleep(for: .milliseconds(1))
                    }
                    throw TestError("E")
                }
                var flow = operation.build(upstream, clock)
                if isNested { flow = .merge([.never, flow]) }
                let seen = Recorder<any Error>()
                let outcome = await Outcome(
                    of: flow.catch { error in
                        seen.append(error)
                        return .empty
                    }.do(onNext: { _ in try await clock.sleep(for: .milliseconds(7)) }))
                #expect(outcome.error == nil)
                #expect(seen.values.map { ($0 as? TestError)?.name ?? describe($0) } == [operation.errorOutcome])
            }
        }
    }

    /// A tick that waits while the consumer works and the flow completes comes too late: nothing follows the end, to be
    /// taken out of the consumer's hands.
    @Test func nothingFollowsTheEnd() throws {
        func run(
            _ times: [Int], work: Int, _ build: @escaping @Sendable (Flow<Int>, any EventClock) -> Flow<String>
        ) throws -> [String] {
            let seen = Recorder<String>()
            try Simulation.run { simulation in
                let clock = simulation.clock
                let now: @Sendable () -> Int64 = { clock.now.nanoseconds / 1_000_000 }
                let upstream = Flow<Int> { emit in
                    for (number, time) in times.enumerated() {
                        try await clock.sleep(until: Instant(nanoseconds: Int64(time) * 1_000_000))
                        if number < times.count - 1 { try await emit([number]) }
                    }
                }
                try await build(upstream, clock).collect { chunk in
                    for element in chunk { seen.append("\(now()) \(element)") }
                    do { try await clock.sleep(for: .milliseconds(work)) } catch { seen.append("\(now()) cut") }
                }
                seen.append("\(now()) end")
            }
            return seen.values
        }
        #expect(
            try run([5, 30, 39], work: 3) { flow, clock in
                flow.buffer(time: .milliseconds(20), clock: clock).map { "\($0)" }
            } == ["20 [0]", "39 [1]", "42 end"])
        #expect(
            try run([5, 12, 15], work: 30) { flow, clock in
                flow.sample(.interval(.milliseconds(10), clock: clock)).map { "\($0)" }
            } == ["10 0", "40 end"])
    }

    @Test(arguments: allOperatorCases) func doesNotDependOnHowTheInputWasCut(_ operation: OperatorCase) throws {
        for seed in SimulationSeeds.range(60) {
            var random = SplitMix64(seed: seed)
            let cuts = cut(Array(1...6), &random)
            let failing = cut(Array(1...4), &random)
            try Simulation.run { simulation in
                let outcome = await Outcome(of: operation.build(Probe(cuts).flow, simulation.clock))
                #expect(outcome == Outcome(operation.values), "seed \(seed), cuts \(cuts)")
                guard let expected = operation.beforeError, !expected.isEmpty else { return }
                let failed = await Outcome(
                    of: operation.build(Probe(failing, error: TestError("E")).flow, simulation.clock))
                #expect(failed == Outcome(expected, operation.errorOutcome), "seed \(seed), cuts \(failing)")
            }
        }
    }

    @Test(arguments: allOperatorCases) func aBlockedConsumerHoldsTheProducer(_ operation: OperatorCase) throws {
        try Simulation.run { simulation in
            let probe = Probe(1...6)
            let gate = Gate()
            let calls = Recorder<Int>()
            let task = Task(executorPreference: simulation.loop) {
                try await operation.build(probe.flow, simulation.clock).collect { chunk in
                    calls.append(chunk.count)
                    try await gate.wait()
                }
            }
            try await simulation.clock.sleep(for: .seconds(100))
            #expect(probe.emitted == operation.emitted)
            #expect(calls.values.count == 1)
            gate.open()
            try await task.value
            #expect(calls.values.reduce(0, +) == operation.afterBlock ?? operation.values.count)
            #expect(probe.released == probe.collections)
        }
    }

    @Test(arguments: allOperatorCases) func cancellationReleasesTheProducer(_ operation: OperatorCase) throws {
        try Simulation.run { simulation in
            let probe = Probe(1...6)
            let task = Task(executorPreference: simulation.loop) {
                try await operation.build(probe.flow, simulation.clock).collect { _ in try await Gate().wait() }
            }
            try await simulation.clock.sleep(for: .seconds(100))
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(probe.released == probe.collections)
        }
    }

    @Test(arguments: allOperatorCases) func cancellationWhileTheProducerWaits(_ operation: OperatorCase) throws {
        try Simulation.run { simulation in
            let released = Recorder<Int>()
            let flow = Flow<Int> { _ in
                defer { released.append(1) }
                try await simulation.clock.sleep(for: .milliseconds(500))
                try await Gate().wait()
            }
            let task = Task(executorPreference: simulation.loop) {
                try await operation.build(flow, simulation.clock).collect { _ in }
            }
            try await simulation.clock.sleep(for: .milliseconds(100))
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(released.values == [1])
            #expect(simulation.clock.now == Instant(nanoseconds: 100_000_000))
        }
    }

    @Test(arguments: allOperatorCases) func whatTheConsumerThrowsComesOut(_ operation: OperatorCase) throws {
        for seed in [nil, 1, 2, 3] as [UInt64?] {
            try Simulation.run(seed: seed) { simulation in
                let probe = Probe(1...6, error: TestError("E"))
                let calls = Recorder<Int>()
                let flow = operation.build(probe.flow.catch { _ in .empty }, simulation.clock)
                await #expect(throws: TestError("body")) {
                    try await flow.collect { _ in
                        calls.append(1)
                        throw TestError("body")
                    }
                }
                #expect(calls.values.count == 1)
                #expect(probe.released == probe.collections)
            }
        }
    }

    @Test(arguments: allOperatorCases) func takeOneStopsIt(_ operation: OperatorCase) throws {
        for seed in [nil, 1, 2, 3] as [UInt64?] {
            try Simulation.run(seed: seed) { simulation in
                let probe = Probe(1...6)
                let outcome = await Outcome(of: operation.build(probe.flow, simulation.clock).take(1))
                #expect(outcome.error == nil)
                #expect(outcome.elements.count == 1)
                if seed == nil { #expect(outcome.elements == Array(operation.values.prefix(1))) }
                #expect(probe.released == probe.collections)
            }
        }
    }

    @Test(arguments: allOperatorCases) func eachCollectionStartsAnew(_ operation: OperatorCase) throws {
        try Simulation.run { simulation in
            let flow = operation.build(Probe(1...6).flow, simulation.clock)
            #expect(await Outcome(of: flow) == Outcome(operation.values))
            #expect(await Outcome(of: flow) == Outcome(operation.values))
        }
    }

    /// What an operator keeps for a collection hangs on its closures and tasks: when those are gone, so are the elements.
    @Test(arguments: allOperatorCases) func keepsNothingWhenItHasEnded(_ operation: OperatorCase) throws {
        for end in ["completed", "failed", "left", "cancelled"] {
            let (producer, consumer) = try Simulation.run { simulation in
                let (producer, consumer) = (WeakProbe(), WeakProbe())
                let error = end == "failed" ? TestError("E") : nil
                let task = Task(executorPreference: simulation.loop) {
                    let (up, down) = (producer.make(), consumer.make())
                    let probe = Probe(1...4, error: error)
                    let upstream = Flow<Int> { emit in
                        try await probe.flow.collect { chunk in
                            withExtendedLifetime(up) {}
                            try await emit(chunk)
                        }
                        if end == "cancelled" { try await Gate().wait() }
                    }
                    var flow = operation.build(upstream, simulation.clock)
                    if end == "left" { flow = flow.take(1) }
                    try await flow.collect { _ in withExtendedLifetime(down) {} }
                }
                if end == "cancelled" {
                    try await simulation.clock.sleep(for: .seconds(100))
                    task.cancel()
                }
                _ = await task.result
                return (producer, consumer)
            }
            #expect(producer.isGone, "\(end): the producer is kept")
            #expect(consumer.isGone, "\(end): the consumer is kept")
        }
    }

    /// An element is let go of when it has gone by, whoever still holds the flow.
    @Test(arguments: allOperatorCases) func keepsNoElementWhenItHasEnded(_ operation: OperatorCase) throws {
        for end in ["completed", "failed", "left", "cancelled"] {
            try Simulation.run { simulation in
                let census = Census()
                let probe = Probe(1...4, error: end == "failed" ? TestError("E") : nil)
                let upstream = Flow<Int> { emit in
                    try await probe.flow.collect(emit)
                    if end == "cancelled" { try await Gate().wait() }
                }
                var flow = operation.build(upstream, simulation.clock, census: census)
                if end == "left" { flow = flow.take(1) }
                let task = Task(executorPreference: simulation.loop) { [flow] in try await flow.collect { _ in } }
                // With the elements that it holds until it is cancelled.
                try await simulation.clock.sleep(for: .seconds(100))
                if end == "cancelled" { task.cancel() }
                _ = await task.result
                #expect(census.alive == 0, "\(end): elements are kept")
                withExtendedLifetime(flow) {}
            }
        }
    }

    /// The probe of the test above sees what is alive.
    @Test func theCensusCounts() throws {
        let census = Census()
        let items = [Item(1, census), Item(2, census)]
        let sum = items[0] + 3
        #expect(census.alive == 3)
        withExtendedLifetime((items, sum)) {}
    }
}
