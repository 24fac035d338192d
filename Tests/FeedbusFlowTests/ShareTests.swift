// feedbus: when a shared flow connects.

import FeedbusBase
import FeedbusFlow
import FeedbusTestKit
import Testing

@Suite struct ShareTests {
    /// A feed that has a value at once, another one a second later, and no end.
    private func feed(_ simulation: Simulation, _ runs: Recorder<Int>) -> Flow<Int> {
        Flow { emit in
            runs.append(1)
            defer { runs.append(-1) }
            try await emit([7])
            try await simulation.clock.sleep(for: .seconds(1))
            try await emit([8])
            try await Gate().wait()
        }
    }

    @Test(arguments: [0, 1, 256]) func whoIsContentWithTheReplayDoesNotConnect(_ capacity: Int) throws {
        try Simulation.run { simulation in
            let runs = Recorder<Int>()
            let shared = feed(simulation, runs).share(replay: 1, scope: .forever, capacity: capacity)
            for _ in 0..<5 {
                let value = try await shared.first()
                #expect(value == 7)
            }
            #expect(runs.values == [1, -1])
            // Who wants more connects, and the value of the moment comes again.
            #expect(try await shared.take(3).array() == [7, 7, 8])
            #expect(runs.values == [1, -1, 1, -1])
            #expect(try await shared.first() == 8)
            #expect(runs.values == [1, -1, 1, -1])
        }
    }

    @Test func whatOneConnectsReachesTheOneThatStillHasTheReplay() throws {
        try Simulation.run { simulation in
            let runs = Recorder<Int>()
            let shared = feed(simulation, runs).share(replay: 1, scope: .forever)
            #expect(try await shared.first() == 7)
            let slow = Recorder<Int>()
            let task = Task(executorPreference: simulation.loop) {
                try await shared.collect { chunk in
                    slow.append(contentsOf: chunk)
                    if slow.values.count == 1 { try await simulation.clock.sleep(for: .seconds(3)) }
                }
            }
            try await simulation.clock.sleep(for: .milliseconds(500))
            // Connects, and leaves while the other one is still at the first element: there are no two upstreams at once.
            #expect(try await shared.take(3).array() == [7, 7, 8])
            #expect(runs.values == [1, -1, 1, -1])
            try await simulation.clock.sleep(for: .seconds(10))
            #expect(slow.values == [7, 7, 8, 7, 8])
            #expect(runs.values == [1, -1, 1, -1, 1])
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(runs.values == [1, -1, 1, -1, 1, -1])
        }
    }

    @Test func cancelledDuringTheReplayItDoesNotConnect() throws {
        try Simulation.run { simulation in
            let runs = Recorder<Int>()
            let shared = feed(simulation, runs).share(replay: 1, scope: .forever)
            #expect(try await shared.first() == 7)
            let task = Task(executorPreference: simulation.loop) {
                try await shared.collect { _ in try await Gate().wait() }
            }
            try await simulation.clock.sleep(for: .seconds(1))
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(runs.values == [1, -1])
        }
    }
}
