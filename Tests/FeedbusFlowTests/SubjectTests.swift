// feedbus: tests of subjects: replay and live parts, scopes, ends, back-pressure, leaving, feeding itself.

import FeedbusBase
import FeedbusFlow
import FeedbusTestKit
import Testing

@Suite struct SubjectTests {
    @Test func aLateSubscriberGetsTheReplayedPartFirst() throws {
        try Simulation.run { simulation in
            let subject = Subject<Int>(replay: 2)
            let early = subject.subscribe()
            for number in 1...3 { try await subject.send(Chunk(one: number)) }
            let late = subject.subscribe()
            try await subject.send([4])
            subject.finish()
            #expect(try await elements(early) == [1, 2, 3, 4])
            #expect(try await elements(late) == [2, 3, 4])
        }
    }

    @Test func withoutReplayALateSubscriberGetsOnlyWhatIsSentLater() throws {
        try Simulation.run { _ in
            let subject = Subject<Int>()
            try await subject.send([1])
            let late = subject.subscribe()
            try await subject.send([2])
            subject.fail(TestError("E"))
            let outcome = await outcome(late)
            #expect(outcome == Outcome([2], "E"))
        }
    }

    @Test func replayNeverHoldsMoreThanItsSize() throws {
        final class Tracked: Sendable {}
        try Simulation.run { _ in
            let subject = Subject<Tracked>(replay: 2, scope: .forever)
            weak var first: Tracked?
            do {
                let elements = (0..<3).map { _ in Tracked() }
                first = elements[0]
                try await subject.send(Chunk(elements))
            }
            #expect(first == nil)
        }
    }

    @Test func whatIsKeptCanDifferFromWhatIsSent() throws {
        try Simulation.run { _ in
            let subject = Subject<Int>(replay: 2, scope: .forever, retain: { -$0 })
            let early = subject.subscribe()
            try await subject.send([1, 2, 3])
            let late = subject.subscribe()
            subject.finish()
            #expect(try await elements(early) == [1, 2, 3])
            #expect(try await elements(late) == [-2, -3])
        }
    }

    // MARK: - Scope and end

    @Test func whileConnectedForgetsWhenTheLastSubscriberLeaves() throws {
        try Simulation.run { _ in
            let subject = Subject<Int>(replay: 2, scope: .whileConnected)
            try await subject.send([1])
            let first = subject.subscribe()
            let second = subject.subscribe()
            try await subject.send([2])
            first.cancel()
            let third = subject.subscribe()
            #expect(third.count == 1)
            second.cancel()
            third.cancel()
            #expect(subject.subscriberCount == 0)
            try await subject.send([3])
            #expect(subject.subscribe().count == 0)
        }
    }

    @Test func foreverKeeps() throws {
        try Simulation.run { _ in
            let subject = Subject<Int>(replay: 2, scope: .forever)
            try await subject.send([1])
            let first = subject.subscribe()
            try await subject.send([2])
            first.cancel()
            try await subject.send([3])
            let second = subject.subscribe()
            #expect(second.count == 2)
            subject.finish()
            #expect(try await elements(second) == [2, 3])
        }
    }

    @Test(arguments: SubjectScope.allCases) func afterTheEnd(_ scope: SubjectScope) throws {
        try Simulation.run { _ in
            for error in [nil, TestError("E")] {
                let subject = Subject<Int>(replay: 2, scope: scope)
                let early = subject.subscribe()
                try await subject.send([1, 2, 3])
                if let error { subject.fail(error) } else { subject.finish() }
                // The first end counts, and nothing is sent or kept after it.
                subject.fail(TestError("later"))
                await #expect(throws: EdgeClosed.self) { try await subject.send([4]) }
                let kept = scope == .forever ? [2, 3] : []
                for _ in 0..<2 {
                    let late = await outcome(subject.subscribe())
                    #expect(late == Outcome(kept, error?.name))
                }
                let first = await outcome(early)
                #expect(first == Outcome([1, 2, 3], error?.name))
                #expect(subject.subscriberCount == 0)
            }
        }
    }

    @Test func aSubjectThatIsForgottenCompletes() throws {
        try Simulation.run { _ in
            var subject: Subject<Int>? = Subject()
            let subscription = subject!.subscribe()
            try await subject!.send([1])
            subject = nil
            #expect(try await elements(subscription) == [1])
        }
    }

    // MARK: - Back-pressure

    @Test func theSlowestSetsThePace() throws {
        try Simulation.run { simulation in
            let subject = Subject<Int>()
            let slow = subject.subscribe(capacity: 2)
            let fast = subject.subscribe(capacity: 4)
            let sent = Recorder<Int>()
            let producer = Task(executorPreference: simulation.loop) {
                for number in 1...10 {
                    try await subject.send(Chunk(one: number))
                    sent.append(number)
                }
                subject.finish()
            }
            try await simulation.clock.sleep(for: .seconds(1))
            // Two in the slow one's edge, the third in the hand of the sender; the fast one has it already.
            #expect(sent.values.count == 2)
            #expect(slow.count == 2)
            #expect(fast.count == 3)
            let rest = Task(executorPreference: simulation.loop) { try await self.elements(fast) }
            try await simulation.clock.sleep(for: .seconds(1))
            // Room in the fast one's edge does not help.
            #expect(fast.count == 0)
            #expect(sent.values.count == 2)
            let all = try await elements(slow)
            #expect(all == Array(1...10))
            #expect(try await rest.value == all)
            try await producer.value
        }
    }

    @Test func policiesThatDropHoldNobodyUp() throws {
        try Simulation.run { _ in
            let subject = Subject<Int>()
            let oldest = subject.subscribe(capacity: 2, policy: .dropOldest)
            let newest = subject.subscribe(capacity: 2, policy: .dropNewest)
            let latest = subject.subscribe(policy: .latest)
            let failing = subject.subscribe(capacity: 2, policy: .fail)
            for number in 1...5 { try await subject.send(Chunk(one: number)) }
            #expect(subject.subscriberCount == 3)
            subject.finish()
            #expect(try await elements(oldest) == [4, 5])
            #expect(oldest.dropped == 3)
            #expect(try await elements(newest) == [1, 2])
            #expect(try await elements(latest) == [5])
            let failed = await outcome(failing)
            #expect(failed == Outcome([1, 2], "the consumer is more than 2 elements behind"))
        }
    }

    @Test func aLongReplayWaitsForItsSubscriberWithoutASender() throws {
        try Simulation.run { simulation in
            let subject = Subject<Int>(replay: 5, scope: .forever)
            try await subject.send([1, 2, 3, 4, 5])
            let edge = Edge<Int>(capacity: 2)
            try await subject.attach(edge)
            #expect(edge.count == 2)
            #expect(edge.waitingCount == 3)
            let producer = Task(executorPreference: simulation.loop) {
                try await subject.send([6])
                subject.finish()
            }
            try await simulation.clock.sleep(for: .seconds(1))
            #expect(edge.waitingCount == 4)
            var taken: [Int] = []
            while let chunk = try await edge.next() { taken += chunk }
            #expect(taken == [1, 2, 3, 4, 5, 6])
            try await producer.value
        }
    }

    @Test func anAttachedEdgeCountsTheSubjectAsOneProducer() throws {
        try Simulation.run { _ in
            let edge = Edge<Int>(capacity: 10, producers: 2)
            let (first, second) = (Subject<Int>(), Subject<Int>())
            try await first.attach(edge)
            try await second.attach(edge)
            try await first.send([1])
            first.finish()
            try await second.send([2])
            second.finish()
            #expect(try await edge.next() == [1, 2])
            #expect(try await edge.next() == nil)
        }
    }

    // MARK: - Cancellation and leaving

    @Test func aSubscriberThatLeavesHoldsNobodyUp() throws {
        try Simulation.run { simulation in
            let subject = Subject<Int>()
            let (first, second) = (subject.subscribe(capacity: 1), subject.subscribe(capacity: 9))
            let producer = Task(executorPreference: simulation.loop) {
                for number in 1...4 { try await subject.send(Chunk(one: number)) }
                subject.finish()
            }
            try await simulation.clock.sleep(for: .seconds(1))
            first.cancel()
            try await producer.value
            #expect(try await elements(first) == [])
            #expect(try await elements(second) == [1, 2, 3, 4])
        }
    }

    @Test func aCancelledSendWithdrawsAndTheNextGoesOn() throws {
        try Simulation.run { simulation in
            let subject = Subject<Int>()
            let (slow, fast) = (subject.subscribe(capacity: 1), subject.subscribe(capacity: 9))
            try await subject.send([1])
            let blocked = Task(executorPreference: simulation.loop) { try await subject.send([2]) }
            try await simulation.clock.sleep(for: .seconds(1))
            let queued = Task(executorPreference: simulation.loop) { try await subject.send([3]) }
            let shielded = Task(executorPreference: simulation.loop) { try await subject.send([4], shielded: true) }
            try await simulation.clock.sleep(for: .seconds(1))
            for task in [blocked, queued, shielded] { task.cancel() }
            await #expect(throws: CancellationError.self) { try await blocked.value }
            await #expect(throws: CancellationError.self) { try await queued.value }
            subject.finish()
            #expect(try await elements(slow) == [1, 4])
            #expect(try await elements(fast) == [1, 2, 4])
            try await shielded.value
        }
    }

    @Test func anAbortedEdgeEndsTheSend() throws {
        try Simulation.run { simulation in
            for others in 0...1 {
                let subject = Subject<Int>()
                let edge = Edge<Int>(capacity: 1)
                try await subject.attach(edge)
                let rest = (0..<others).map { _ in subject.subscribe() }
                let sender = Task(executorPreference: simulation.loop) {
                    try await subject.send([1, 2], shielded: true)
                }
                try await simulation.clock.sleep(for: .seconds(1))
                edge.abort()
                await #expect(throws: CancellationError.self) { try await sender.value }
                #expect(subject.subscriberCount == others)
                #expect(rest.allSatisfy { $0.count == 2 })
            }
        }
    }

    @Test func leavingTheLoopLeavesTheSubject() throws {
        try Simulation.run { simulation in
            let subject = Subject<Int>()
            let subscription = subject.subscribe(capacity: 1)
            let producer = Task(executorPreference: simulation.loop) {
                for number in 1...5 { try await subject.send(Chunk(one: number)) }
            }
            for try await number in subscription where number == 2 { break }
            try await producer.value
            #expect(subject.subscriberCount == 0)
            // Cancelling the task that loops does the same.
            let other = subject.subscribe()
            let consumer = Task(executorPreference: simulation.loop) { for try await _ in other {} }
            try await simulation.clock.sleep(for: .seconds(1))
            #expect(subject.subscriberCount == 1)
            consumer.cancel()
            await #expect(throws: CancellationError.self) { try await consumer.value }
            #expect(subject.subscriberCount == 0)
        }
    }

    @Test func forgettingTheSubscriptionLeavesTheSubject() throws {
        try Simulation.run { _ in
            let subject = Subject<Int>()
            _ = subject.subscribe()
            #expect(subject.subscriberCount == 0)
        }
    }

    // MARK: - Re-entry

    @Test func aSendFromInsideAHandlerReachesAllInTheSameOrder() throws {
        for seed in SimulationSeeds.range(50) {
            try Simulation.run(seed: seed) { simulation in
                let subject = Subject<Int>()
                let (first, second) = (Recorder<Int>(), Recorder<Int>())
                let feeding = subject.subscribe()
                let plain = subject.subscribe()
                try await withThrowingDiscardingTaskGroup { group in
                    group.addTask {
                        for try await number in feeding {
                            first.append(number)
                            if number < 4 { try await subject.send(Chunk(one: number + 1)) }
                            if number == 4 { subject.finish() }
                        }
                    }
                    group.addTask { for try await number in plain { second.append(number) } }
                    try await subject.send([1])
                }
                #expect(first.values == [1, 2, 3, 4])
                #expect(second.values == [1, 2, 3, 4])
            }
        }
    }

    @Test func aSubscriberThatCancelsInsideItsHandlerGetsNothingMore() throws {
        try Simulation.run { simulation in
            let subject = Subject<Int>()
            let subscription = subject.subscribe()
            let seen = Recorder<Int>()
            let consumer = Task(executorPreference: simulation.loop) {
                for try await number in subscription {
                    seen.append(number)
                    if number == 2 { subscription.cancel() }
                }
            }
            for number in 1...4 {
                try await subject.send(Chunk(one: number))
                try await simulation.clock.sleep(for: .seconds(1))
            }
            try await consumer.value
            #expect(seen.values == [1, 2])
        }
    }

    /// The rest of a chunk that the loop has taken already is not handed out.
    @Test func cancellingInTheMiddleOfAChunkEndsTheLoopThere() throws {
        try Simulation.run { _ in
            let subject = Subject<Int>()
            let subscription = subject.subscribe()
            let seen = Recorder<Int>()
            try await subject.send([1, 2, 3])
            for try await number in subscription {
                seen.append(number)
                if number == 2 { subscription.cancel() }
            }
            #expect(seen.values == [1, 2])
            #expect(subject.subscriberCount == 0)
        }
    }

    // MARK: - Helpers

    private func elements(_ subscription: Subscription<Int>) async throws -> [Int] {
        var elements: [Int] = []
        for try await element in subscription { elements.append(element) }
        return elements
    }

    private func outcome(_ subscription: Subscription<Int>) async -> Outcome<Int> {
        var elements: [Int] = []
        do {
            for try await element in subscription { elements.append(element) }
            return Outcome(elements)
        } catch {
            return Outcome(elements, describe(error))
        }
    }
}
