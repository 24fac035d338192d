// feedbus: what a hand-off costs on a loop, in jobs that are queued: a count that no machine's mood changes.

import FeedbusFlow
import FeedbusLoop
import FeedbusTestKit
import Testing

@Suite struct HandOffTests {
    /// Runs `body` on a loop of its own.
    /// - Returns: jobs that were queued for it.
    private func jobs(_ body: @escaping @Sendable (EventLoop) async throws -> Void) throws -> Int {
        let loop = try EventLoop.make(name: "hand-offs")
        let counted = Recorder<Int>()
        loop.task {
            defer { loop.stop() }
            let before = loop.enqueueCount
            do { try await body(loop) } catch { Issue.record(error) }
            counted.append(loop.enqueueCount - before)
        }
        try loop.run()
        return try #require(counted.values.first)
    }

    /// Two for three chunks: the consumer is woken, finds a second chunk in the buffer, and by taking it lets in a third.
    @Test(arguments: [true, false]) func anEdgeWithRoomForOneQueuesTwoJobsForThreeChunks(shielded: Bool) throws {
        let jobs = try jobs { loop in
            let edge = Edge<Int>(capacity: 1)
            let producer = loop.task {
                for number in 0..<300 { try await edge.send([number], shielded: shielded) }
                edge.finish()
            }
            let sum = Recorder<Int>()
            try await edge.drain { sum.append($0[0]) }
            try await producer.value
            #expect(sum.values == Array(0..<300))
        }
        #expect((200...204).contains(jobs))
    }

    @Test func nextQueuesNoMoreThanDrain() throws {
        let jobs = try jobs { loop in
            let edge = Edge<Int>(capacity: 1)
            let producer = loop.task {
                for number in 0..<300 { try await edge.send([number]) }
                edge.finish()
            }
            var count = 0
            while let chunk = try await edge.next() { count += chunk.count }
            try await producer.value
            #expect(count == 300)
        }
        #expect((200...204).contains(jobs))
    }

    @Test func operatorsThatCallDirectlyQueueNothingForAnElement() throws {
        let jobs = try jobs { _ in
            let ones = Flow<Int> { emit in for number in 0..<300 { try await emit([number]) } }
            let taken = Recorder<Int>()
            try await Flow.amb([ones.map { $0 + 1 }.filter { $0 > 0 }.scan(0, +).flatMapLatest { .just($0) }, ones])
                .collect { taken.append(contentsOf: $0) }
            #expect(taken.values.count == 300)
        }
        // Some for the tasks of the operators, whatever the number of elements.
        #expect(jobs < 30)
    }
}
