// feedbus: tests of subjects that keep their subscribers together, or send to all or to nobody.

import FeedbusBase
import FeedbusFlow
import FeedbusTestKit
import Testing

@Suite struct SubjectPaceTests {
    /// One subscriber never takes anything: how many elements the other one gets is exactly what the first has room for.
    @Test(arguments: [0, 1, 2, 5]) func nobodyGetsWhatNotAllHaveRoomFor(_ capacity: Int) throws {
        for seed in SimulationSeeds.range(20) {
            try Simulation.run { simulation in
                var random = SplitMix64(seed: seed)
                let cuts = cut(Array(1...10), &random)
                let subject = Subject<Int>(pace: .slowest)
                let slow = subject.subscribe(capacity: capacity)
                let fast = subject.subscribe(capacity: 3)
                let seen = Recorder<Int>()
                let reader = Task(executorPreference: simulation.loop) {
                    for try await number in fast { seen.append(number) }
                }
                let producer = Task(executorPreference: simulation.loop) {
                    for cut in cuts { try await subject.send(Chunk(cut)) }
                    subject.finish()
                }
                try await simulation.clock.sleep(for: .seconds(1))
                #expect(seen.values == Array(1...10).prefix(capacity).map { $0 })
                #expect(slow.count == capacity)
                slow.cancel()
                try await producer.value
                try await reader.value
                #expect(seen.values == Array(1...10))
            }
        }
    }

    @Test func asRoomComesAllGoOn() throws {
        try Simulation.run { simulation in
            let subject = Subject<Int>(pace: .slowest)
            let log = Recorder<String>()
            let readers = ["fast": 0, "slow": 10].map { name, pause in
                let subscription = subject.subscribe(capacity: 0)
                return Task(executorPreference: simulation.loop) {
                    for try await number in subscription {
                        if name == "fast" { log.append("\(simulation.clock.now.nanoseconds / 1_000_000):\(number)") }
                        try await simulation.clock.sleep(for: .milliseconds(pause))
                    }
                }
            }
            try await simulation.clock.sleep(for: .milliseconds(1))
            for number in 1...3 { try await subject.send(Chunk(one: number)) }
            subject.finish()
            for reader in readers { try await reader.value }
            #expect(log.values == ["1:1", "11:2", "21:3"])
        }
    }

    @Test func aSenderThatWaitsForRoomCanBeCancelled() throws {
        try Simulation.run { simulation in
            let subject = Subject<Int>(pace: .slowest)
            let (narrow, wide) = (subject.subscribe(capacity: 1), subject.subscribe(capacity: 9))
            let producer = Task(executorPreference: simulation.loop) { try await subject.send([1, 2, 3]) }
            try await simulation.clock.sleep(for: .seconds(1))
            producer.cancel()
            await #expect(throws: CancellationError.self) { try await producer.value }
            #expect((narrow.count, wide.count) == (1, 1))
            var reader = narrow.makeAsyncIterator()
            #expect(try await reader.next() == 1)
            try await subject.send([4])
            #expect((narrow.count, wide.count) == (1, 2))
        }
    }

    @Test func allOrNobody() throws {
        try Simulation.run { simulation in
            let subject = Subject<Int>(replay: 1)
            let (one, other) = (subject.subscribe(capacity: 2), subject.subscribe(capacity: 3))
            #expect(try subject.sendIfRoom([1, 2]))
            #expect(try !subject.sendIfRoom([3]))
            #expect((one.count, other.count) == (2, 2))
            // What nobody got is not replayed either.
            var late = subject.subscribe().makeAsyncIterator()
            #expect(try await late.next() == 2)
            var reader = one.makeAsyncIterator()
            #expect(try await reader.next() == 1)
            #expect(try await reader.next() == 2)
            #expect(try subject.sendIfRoom([3]))
            #expect(try await late.next() == 3)
            let producer = Task(executorPreference: simulation.loop) { try await subject.send([4, 5]) }
            try await simulation.clock.sleep(for: .seconds(1))
            // An emission is under way.
            #expect(try !subject.sendIfRoom([6]))
            one.cancel()
            other.cancel()
            try await producer.value
            subject.finish()
            #expect(throws: EdgeClosed.self) { try subject.sendIfRoom([7]) }
        }
    }
}
