// feedbus: what every operator must do, whatever it does.

import FeedbusBase
import FeedbusFlow
import FeedbusTestKit
import Testing

@Suite struct OperatorTests {
    @Test(arguments: operatorCases) func emitsItsValuesAndCompletes(_ operation: OperatorCase) throws {
        try Simulation.run { simulation in
            let probe = Probe(1...6)
            let outcome = await Outcome(of: operation.build(probe.flow, simulation.clock))
            #expect(outcome == Outcome(operation.values))
            #expect(probe.released == probe.collections)
        }
    }

    @Test(arguments: operatorCases) func completesOnAnEmptyInput(_ operation: OperatorCase) throws {
        try Simulation.run { simulation in
            let probe = Probe([[Int]]())
            let outcome = await Outcome(of: operation.build(probe.flow, simulation.clock))
            #expect(outcome == Outcome(operation.empty))
        }
    }

    @Test(arguments: operatorCases.filter { $0.beforeError != nil })
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

    @Test(arguments: operatorCases) func doesNotDependOnHowTheInputWasCut(_ operation: OperatorCase) throws {
        for seed in 0..<60 as Range<UInt64> {
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

    @Test(arguments: operatorCases) func aBlockedConsumerHoldsTheProducer(_ operation: OperatorCase) throws {
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
            #expect(calls.values.reduce(0, +) == operation.values.count)
            #expect(probe.released == probe.collections)
        }
    }

    @Test(arguments: operatorCases) func cancellationReleasesTheProducer(_ operation: OperatorCase) throws {
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

    @Test(arguments: operatorCases) func cancellationWhileTheProducerWaits(_ operation: OperatorCase) throws {
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

    @Test(arguments: operatorCases) func whatTheConsumerThrowsComesOut(_ operation: OperatorCase) throws {
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

    @Test(arguments: operatorCases) func takeOneStopsIt(_ operation: OperatorCase) throws {
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

    @Test(arguments: operatorCases) func eachCollectionStartsAnew(_ operation: OperatorCase) throws {
        try Simulation.run { simulation in
            let flow = operation.build(Probe(1...6).flow, simulation.clock)
            #expect(await Outcome(of: flow) == Outcome(operation.values))
            #expect(await Outcome(of: flow) == Outcome(operation.values))
        }
    }
}
