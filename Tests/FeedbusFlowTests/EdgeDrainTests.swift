// feedbus: tests of the loop over an edge, and of the short ways through one.

import FeedbusBase
import FeedbusFlow
import FeedbusTestKit
import Testing

@Suite struct EdgeDrainTests {
    @Test(arguments: [1, 2, 3, 256]) func drainHandsOutAllInOrderAndThenReturns(capacity: Int) throws {
        try Simulation.run { simulation in
            let edge = Edge<Int>(capacity: capacity)
            let taken = Recorder<Int>()
            let consumer = Task(executorPreference: simulation.loop) {
                try await edge.drain { taken.append(contentsOf: $0) }
            }
            for number in 0..<100 { try await edge.send(number % 7 == 0 ? [number, -number] : [number]) }
            edge.finish()
            try await consumer.value
            #expect(taken.values.filter { $0 >= 0 } == [0] + Array(0..<100))
            #expect(taken.values.count == 115)
        }
    }

    @Test func drainHandsOutNoMoreThanItWasAskedFor() throws {
        try Simulation.run { _ in
            let edge = Edge<Int>(capacity: 10)
            try await edge.send([1, 2, 3, 4, 5])
            edge.finish()
            let sizes = Recorder<Int>()
            try await edge.drain(max: 2) { sizes.append($0.count) }
            #expect(sizes.values == [2, 2, 1])
        }
    }

    @Test func drainThrowsTheEdgesErrorAfterWhatIsBuffered() throws {
        try Simulation.run { _ in
            let edge = Edge<Int>(capacity: 10)
            try await edge.send([1, 2])
            edge.fail(TestError("broken"))
            let taken = Recorder<Int>()
            await #expect(throws: TestError("broken")) { try await edge.drain { taken.append(contentsOf: $0) } }
            #expect(taken.values == [1, 2])
        }
    }

    @Test func whatTheBodyThrowsEndsTheDrainAndLeavesTheRest() throws {
        try Simulation.run { _ in
            let edge = Edge<Int>(capacity: 10)
            try await edge.send([1])
            await #expect(throws: TestError("body")) { try await edge.drain { _ in throw TestError("body") } }
            try await edge.send([2])
            #expect(try await edge.next() == [2])
        }
    }

    @Test func cancellationEndsADrainThatWaits() throws {
        try Simulation.run { simulation in
            let edge = Edge<Int>(capacity: 1)
            let taken = Recorder<Int>()
            let consumer = Task(executorPreference: simulation.loop) {
                try await edge.drain { taken.append(contentsOf: $0) }
            }
            try await simulation.clock.sleep(for: .seconds(1))
            try await edge.send([1])
            try await simulation.clock.sleep(for: .seconds(1))
            consumer.cancel()
            await #expect(throws: CancellationError.self) { try await consumer.value }
            #expect(taken.values == [1])
            // The edge is as it was: another consumer goes on.
            try await edge.send([2])
            #expect(try await edge.next() == [2])
        }
    }

    @Test func cancellationEndsADrainBeforeItTakesAnything() throws {
        try Simulation.run { simulation in
            let edge = Edge<Int>(capacity: 4)
            try await edge.send([1])
            let consumer = Task(executorPreference: simulation.loop) {
                try await simulation.clock.sleep(for: .seconds(1))
                try await edge.drain { _ in Issue.record("nothing must come out") }
            }
            consumer.cancel()
            await #expect(throws: CancellationError.self) { try await consumer.value }
            #expect(edge.count == 1)
        }
    }

    /// A sender whose chunk is larger than the edge goes in piece by piece, one that fits whole is let in at once; either
    /// way nothing overtakes.
    @Test func aSenderThatWaitsGoesInBehindWhatIsTaken() throws {
        try Simulation.run { simulation in
            let edge = Edge<Int>(capacity: 2)
            try await edge.send([1, 2])
            let first = Task(executorPreference: simulation.loop) { try await edge.send([3, 4, 5]) }
            try await simulation.clock.sleep(for: .seconds(1))
            let second = Task(executorPreference: simulation.loop) { try await edge.send([6]) }
            try await simulation.clock.sleep(for: .seconds(1))
            #expect(edge.waitingCount == 4)
            #expect(try await edge.next() == [1, 2])
            #expect(edge.waitingCount == 2)
            #expect(try await edge.next(max: 1) == [3])
            #expect(edge.waitingCount == 1)
            #expect(try await edge.next() == [4, 5])
            try await first.value
            try await second.value
            #expect(edge.waitingCount == 0)
            #expect(try await edge.next() == [6])
        }
    }
}
