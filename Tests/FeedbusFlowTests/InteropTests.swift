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

    // MARK: - Corners

    /// The rest of the chunk that the loop has in hand is not handed out to a task that was cancelled meanwhile.
    @Test func cancellingTheConsumerInTheMiddleOfAChunkEndsTheLoopThere() throws {
        try Simulation.run { simulation in
            let subject = Subject<Int>()
            let subscription = subject.subscribe()
            try await subject.send([1, 2, 3])
            let probe = Probe([[1, 2, 3], [4]])
            let loops: [@Sendable (Recorder<Int>) async throws -> Void] = [
                { seen in
                    for try await element in probe.flow.elements() {
                        seen.append(element)
                        if element == 2 { withUnsafeCurrentTask { $0?.cancel() } }
                    }
                },
                { seen in
                    for try await element in subscription {
                        seen.append(element)
                        if element == 2 { withUnsafeCurrentTask { $0?.cancel() } }
                    }
                },
            ]
            for loop in loops {
                let seen = Recorder<Int>()
                let task = Task(executorPreference: simulation.loop) { try await loop(seen) }
                await #expect(throws: CancellationError.self) { try await task.value }
                #expect(seen.values == [1, 2])
            }
            try await simulation.clock.sleep(for: .seconds(1))
            #expect(probe.released == 1)
            #expect(subject.subscriberCount == 0)
        }
    }

    /// `AsyncStream` ends when its consumer is cancelled. For a flow that is no completion: nothing may follow from it.
    @Test func aSequenceThatEndsBecauseItIsCancelledHasNotCompleted() throws {
        try Simulation.run { simulation in
            let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
            continuation.yield(1)
            let seen = Recorder<String>()
            let flow = Flow.from(stream)
                .do(onCompletion: { seen.append("completed") }, onCancel: { seen.append("cancelled") })
                .concat(with: .just(9))
            let task = Task(executorPreference: simulation.loop) {
                try await flow.collect { chunk in for number in chunk { seen.append("\(number)") } }
            }
            try await simulation.clock.sleep(for: .seconds(1))
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(seen.values == ["1", "cancelled"])
        }
    }

    @Test func aSequenceThatDoesNotHeedCancellationIsLeft() throws {
        struct Endless: AsyncSequence, AsyncIteratorProtocol, Sendable {
            var number = 0
            mutating func next() async -> Int? {
                number += 1
                return number
            }
            func makeAsyncIterator() -> Endless { self }
        }
        try Simulation.run { simulation in
            let seen = Recorder<Int>()
            let task = Task(executorPreference: simulation.loop) {
                try await Flow.from(Endless()).collect { chunk in
                    seen.append(contentsOf: chunk)
                    if chunk[0] == 3 { withUnsafeCurrentTask { $0?.cancel() } }
                }
            }
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(seen.values == [1, 2, 3])
        }
    }

    @Test func afterItsEndAnIteratorHasNothing() throws {
        try Simulation.run { _ async throws in
            var iterator = Probe([[1, 2]], error: TestError("E")).flow.elements().makeAsyncIterator()
            #expect(try await iterator.next() == 1)
            #expect(try await iterator.next() == 2)
            await #expect(throws: TestError("E")) { try await iterator.next() }
            #expect(try await iterator.next() == nil)
            #expect(try await iterator.next() == nil)
            let subject = Subject<Int>()
            var failing = subject.subscribe().makeAsyncIterator()
            subject.fail(TestError("E"))
            await #expect(throws: TestError("E")) { try await failing.next() }
            #expect(try await failing.next() == nil)
            // One that comes after the end, by chunks.
            var chunks = subject.subscribe().chunks.makeAsyncIterator()
            await #expect(throws: TestError("E")) { try await chunks.next() }
            #expect(try await chunks.next() == nil)
        }
    }

    @Test func eachLoopOverAFlowCollectsItAnew() throws {
        try Simulation.run { _ in
            let probe = Probe([[1, 2, 3]])
            let sequence = probe.flow.elements()
            for try await element in sequence where element == 2 { break }
            var seen: [Int] = []
            for try await element in sequence { seen.append(element) }
            #expect(seen == [1, 2, 3])
            #expect(probe.collections == 2)
            // And each collection of a flow of a sequence iterates it anew.
            let flow = Flow.from(Counting())
            #expect(await Outcome(of: flow.take(2)) == Outcome([1, 2]))
            #expect(await Outcome(of: flow) == Outcome([1, 2, 3, 4]))
        }
    }

    /// A subscription is consumed once: what comes after its loop has nothing to wait for.
    @Test func aSecondLoopOverASubscriptionEndsAtOnce() throws {
        try Simulation.run { _ in
            let subject = Subject<Int>(replay: 2, scope: .forever)
            let subscription = subject.subscribe()
            try await subject.send([1, 2, 3])
            for try await element in subscription where element == 1 { break }
            var seen: [Int] = []
            for try await element in subscription { seen.append(element) }
            #expect(seen.isEmpty)
            #expect(subject.subscriberCount == 0)
        }
    }

    /// Through a sequence and back: one chunk in hand on each side, and no more.
    @Test func aRoundTripHoldsTheProducer() throws {
        try Simulation.run { simulation in
            let probe = Probe(1...6)
            let gate = Gate()
            let task = Task(executorPreference: simulation.loop) {
                try await Flow.from(probe.flow.elements()).collect { _ in try await gate.wait() }
            }
            try await simulation.clock.sleep(for: .seconds(1))
            #expect(probe.emitted == 2)
            gate.open()
            try await task.value
            #expect(probe.emitted == 6)
        }
    }
}
