// feedbus: flows and AsyncSequences, both ways: back-pressure and cancellation are kept.

import FeedbusBase
import FeedbusFlow
import FeedbusTestKit
import Testing

/// Counts up, at the pace of whoever asks; tells how far it came and whether its iterator is gone.
private struct Counting: AsyncSequence, Sendable {
    let asked = Recorder<Int>()
    let probe = WeakProbe()
    var error: TestError?

    struct AsyncIterator: AsyncIteratorProtocol {
        let asked: Recorder<Int>
        let tracked: Tracked
        let error: TestError?
        var number = 0

        mutating func next() async throws -> Int? {
            try Task.checkCancellation()
            number += 1
            asked.append(number)
            if number == 5 {
                if let error { throw error }
                return nil
            }
            return number
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(asked: asked, tracked: probe.make(), error: error) }
}

@Suite struct InteropTests {
    @Test func aFlowOfASequenceAsksOnlyWhenTheConsumerIsDone() throws {
        try Simulation.run { simulation in
            let sequence = Counting()
            let gate = Gate()
            let task = Task(executorPreference: simulation.loop) {
                try await Flow.from(sequence).collect { _ in try await gate.wait() }
            }
            try await simulation.clock.sleep(for: .seconds(1))
            #expect(sequence.asked.values == [1])
            gate.open()
            try await task.value
            #expect(sequence.asked.values == [1, 2, 3, 4, 5])
            #expect(sequence.probe.isGone)
        }
    }

    @Test func aFlowOfASequenceFailsAndIsCancelledWithIt() throws {
        try Simulation.run { simulation in
            let failing = Counting(error: TestError("E"))
            #expect(await Outcome(of: Flow.from(failing)) == Outcome([1, 2, 3, 4], "E"))
            let sequence = Counting()
            let task = Task(executorPreference: simulation.loop) {
                try await Flow.from(sequence).collect { _ in try await Gate().wait() }
            }
            try await simulation.clock.sleep(for: .seconds(1))
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(sequence.asked.values == [1])
            #expect(sequence.probe.isGone)
        }
    }

    @Test func takingEnoughLetsTheSequenceGo() throws {
        try Simulation.run { _ in
            let sequence = Counting()
            #expect(await Outcome(of: Flow.from(sequence).take(2)) == Outcome([1, 2]))
            #expect(sequence.asked.values == [1, 2])
            #expect(sequence.probe.isGone)
        }
    }

    @Test(arguments: [0, 1, 2]) func aLoopHoldsTheFlow(_ buffer: Int) throws {
        try Simulation.run { simulation in
            let probe = Probe(1...6)
            var iterator = probe.flow.elements(buffer: buffer).makeAsyncIterator()
            #expect(probe.emitted == 0)
            #expect(try await iterator.next() == 1)
            try await simulation.clock.sleep(for: .seconds(1))
            // What was buffered has been taken at once; the buffer is full again, and the flow has one more in hand.
            #expect(probe.emitted == max(1, buffer) + buffer + 1)
            #expect(try await iterator.next() == 2)
            try await simulation.clock.sleep(for: .seconds(1))
            #expect(try await iterator.next() == 3)
            for number in 4...6 { #expect(try await iterator.next() == number) }
            #expect(try await iterator.next() == nil)
            #expect(probe.released == 1)
        }
    }

    @Test func leavingALoopStopsTheFlow() throws {
        try Simulation.run { simulation in
            let probe = Probe(1...6)
            for try await element in probe.flow.elements() where element == 2 { break }
            try await simulation.clock.sleep(for: .seconds(1))
            #expect(probe.released == 1)
            #expect(probe.emitted == 3)
        }
    }

    @Test func aLoopEndsWithTheFlowsErrorAndWithCancellation() throws {
        try Simulation.run { simulation in
            let probe = Probe(1...2, error: TestError("E"))
            let seen = Recorder<Int>()
            await #expect(throws: TestError("E")) {
                for try await element in probe.flow.elements() { seen.append(element) }
            }
            #expect(seen.values == [1, 2])
            let endless = Recorder<Int>()
            let task = Task(executorPreference: simulation.loop) {
                let flow = Flow<Int> { _ in
                    defer { endless.append(1) }
                    try await Gate().wait()
                }
                for try await _ in flow.elements() {}
            }
            try await simulation.clock.sleep(for: .seconds(1))
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            try await simulation.clock.sleep(for: .seconds(1))
            #expect(endless.values == [1])
        }
    }

    @Test func aSubscriptionHoldsItsSubject() throws {
        try Simulation.run { simulation in
            let subject = Subject<Int>()
            let subscription = subject.subscribe(capacity: 2)
            let sent = Recorder<Int>()
            let task = Task(executorPreference: simulation.loop) {
                for number in 1...6 {
                    try await subject.send(Chunk(one: number))
                    sent.append(number)
                }
                subject.finish()
            }
            try await simulation.clock.sleep(for: .seconds(1))
            #expect(sent.values == [1, 2])
            var seen: [Int] = []
            for try await element in subscription { seen.append(element) }
            #expect(seen == Array(1...6))
            try await task.value
            #expect(subject.subscriberCount == 0)
        }
    }
}
