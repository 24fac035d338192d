// feedbus: tests of edges: what each policy lets through, drops and counts; ends; cancellation; several producers.

import FeedbusBase
import FeedbusFlow
import FeedbusTestKit
import Testing

@Suite struct EdgeTests {
    /// Sends 1...10, each alone, into an edge of 3 whose consumer never asks; then drains it.
    private func sendTen(
        _ policy: OverflowPolicy
    ) throws -> (sent: Int, buffered: Int, waiting: Int, dropped: [Int], error: String?, taken: [Int]) {
        try Simulation.run { simulation in
            let dropped = Recorder<Int>()
            let edge = Edge<Int>(capacity: 3, policy: policy, onDrop: { dropped.append(contentsOf: $0) })
            let sent = Recorder<Int>()
            let producer = Task(executorPreference: simulation.loop) { () -> String? in
                do {
                    for number in 1...10 {
                        try await edge.send(Chunk(one: number))
                        sent.append(number)
                    }
                    edge.finish()
                    return nil
                } catch {
                    return describe(error)
                }
            }
            try await simulation.clock.sleep(for: .seconds(1))
            let (count, buffered, waiting) = (sent.values.count, edge.count, edge.waitingCount)
            #expect(edge.dropped == dropped.values.count)
            var taken: [Int] = []
            do {
                while let chunk = try await edge.next() { taken += chunk }
            } catch {
                taken.append(-1)
            }
            return (count, buffered, waiting, dropped.values, await producer.value, taken)
        }
    }

    @Test func blockHoldsTheFourthElement() throws {
        let result = try sendTen(.block)
        #expect(result.sent == 3)
        #expect(result.buffered == 3)
        #expect(result.waiting == 1)
        #expect(result.dropped == [])
        #expect(result.taken == Array(1...10))
    }

    @Test func dropOldestKeepsTheNewest() throws {
        let result = try sendTen(.dropOldest)
        #expect(result.sent == 10)
        #expect(result.buffered == 3)
        #expect(result.dropped == Array(1...7))
        #expect(result.taken == [8, 9, 10])
    }

    @Test func dropNewestRefusesTheNew() throws {
        let result = try sendTen(.dropNewest)
        #expect(result.sent == 10)
        #expect(result.buffered == 3)
        #expect(result.dropped == Array(4...10))
        #expect(result.taken == [1, 2, 3])
    }

    @Test func latestKeepsOne() throws {
        let result = try sendTen(.latest)
        #expect(result.sent == 10)
        #expect(result.buffered == 1)
        #expect(result.dropped == Array(1...9))
        #expect(result.taken == [10])
    }

    @Test func failThrowsAtTheSenderAndAfterWhatIsBuffered() throws {
        let result = try sendTen(.fail)
        #expect(result.sent == 3)
        #expect(result.buffered == 3)
        #expect(result.dropped == [4])
        #expect(result.error == "the consumer is more than 3 elements behind")
        #expect(result.taken == [1, 2, 3, -1])
    }

    @Test func dropLastPutsTheNewInPlaceOfTheLast() throws {
        let result = try sendTen(.dropLast)
        #expect(result.sent == 10)
        #expect(result.dropped == Array(3...9))
        #expect(result.taken == [1, 2, 10])
    }

    @Test func dropAllMakesRoomForGood() throws {
        let result = try sendTen(.dropAll)
        #expect(result.sent == 10)
        #expect(result.dropped == Array(1...9))
        #expect(result.taken == [10])
    }

    @Test func failAtOnceOvertakesWhatIsBuffered() throws {
        let result = try sendTen(.failAtOnce)
        #expect(result.sent == 3)
        #expect(result.buffered == 0)
        #expect(result.dropped == [1, 2, 3, 4])
        #expect(result.error == "the consumer is more than 3 elements behind")
        #expect(result.taken == [-1])
    }

    @Test(arguments: OverflowPolicy.allCases + [.dropLast, .dropAll, .failAtOnce]) func cutsMakeNoDifference(
        _ policy: OverflowPolicy
    ) throws {
        for seed in SimulationSeeds.range(100) {
            var random = SplitMix64(seed: seed)
            let capacity = Int.random(in: 1...6, using: &random)
            let cuts = cut(Array(1...12), &random)
            func run(_ cuts: [[Int]]) throws -> [[Int]] {
                try Simulation.run { simulation in
                    let dropped = Recorder<Int>()
                    let edge = Edge<Int>(capacity: capacity, policy: policy, onDrop: { dropped.append(contentsOf: $0) })
                    let producer = Task(executorPreference: simulation.loop) {
                        for cut in cuts { try await edge.send(Chunk(cut)) }
                        edge.finish()
                    }
                    try await simulation.clock.sleep(for: .seconds(1))
                    var taken: [Int] = []
                    do { while let chunk = try await edge.next() { taken += chunk } } catch {}
                    _ = await producer.result
                    // With `fail`, the sender stops; what it did not send is not the edge's loss.
                    return [.fail, .failAtOnce].contains(policy) ? [taken] : [taken, dropped.values]
                }
            }
            let expected = try run((1...12).map { [$0] })
            #expect(try run(cuts) == expected, "seed \(seed)")
        }
    }

    @Test func aLargeChunkIsSplit() throws {
        try Simulation.run { simulation in
            let edge = Edge<Int>(capacity: 4)
            let producer = Task(executorPreference: simulation.loop) { try await edge.send(Chunk(Array(1...10))) }
            try await simulation.clock.sleep(for: .seconds(1))
            #expect(edge.count == 4)
            #expect(edge.waitingCount == 6)
            #expect(try await edge.next(max: 3) == [1, 2, 3])
            #expect(edge.count == 4)
            #expect(edge.waitingCount == 3)
            #expect(try await edge.next() == [4, 5, 6, 7])
            try await producer.value
            #expect(try await edge.next(max: 2) == [8, 9])
            #expect(edge.count == 1)
        }
    }

    @Test func aWaitingConsumerGetsNoMoreThanTheCapacity() throws {
        try Simulation.run { simulation in
            let edge = Edge<Int>(capacity: 2, policy: .dropOldest)
            let consumer = Task(executorPreference: simulation.loop) { try await edge.next() }
            try await simulation.clock.sleep(for: .seconds(1))
            try await edge.send([1, 2, 3, 4, 5])
            #expect(try await consumer.value == [4, 5])
            #expect(edge.dropped == 3)
        }
    }

    @Test func smallChunksAreJoinedAndLargeOnesAreNot() throws {
        try Simulation.run { _ in
            let edge = Edge<Int>(capacity: 2000)
            for number in 0..<10 { try await edge.send(Chunk(one: number)) }
            #expect(try await edge.next() == Chunk(Array(0..<10)))
            let large = Array(0..<300)
            try await edge.send(Chunk(large))
            try await edge.send([1])
            #expect(try await edge.next() == Chunk(large))
            #expect(try await edge.next() == [1])
        }
    }

    // MARK: - Weight

    @Test func aWeightLimitHoldsToo() throws {
        try Simulation.run { simulation in
            let edge = Edge<Int>(capacity: 100, weightLimit: 10, weigh: { $0 })
            let producer = Task(executorPreference: simulation.loop) { try await edge.send([4, 6, 1, 25, 3]) }
            try await simulation.clock.sleep(for: .seconds(1))
            #expect(edge.count == 2)
            #expect(try await edge.next(max: 1) == [4])
            #expect(edge.count == 2)
            #expect(try await edge.next() == [6, 1])
            // Too heavy for any room, but the edge is empty.
            #expect(edge.count == 1)
            #expect(try await edge.next() == [25])
            try await producer.value
            #expect(try await edge.next() == [3])
        }
    }

    @Test func whatWaitedForRoomGoesOnWithItsBeginning() throws {
        try Simulation.run { simulation in
            let edge = Edge<Int>(capacity: 700, weightLimit: 100_000, weigh: { _ in 100 })
            let large = Chunk(Array(0..<600))
            try await edge.send(large)
            let producer = Task(executorPreference: simulation.loop) { try await edge.send(large) }
            try await simulation.clock.sleep(for: .seconds(1))
            #expect(edge.count == 700)
            #expect(try await edge.next() == large)
            try await producer.value
            // 100 were there, and the other 500 came when there was room: neighbours, which are not handed out as two.
            let whole = try await edge.next()
            #expect(whole == large)
            let address = { (chunk: Chunk<Int>) in
                chunk.withContiguousStorageIfAvailable { $0.baseAddress.map { Int(bitPattern: $0) } }
            }
            #expect(whole.map(address) == address(large))
        }
    }

    @Test func equalChunksThatAreNoNeighboursStayApart() throws {
        try Simulation.run { _ in
            let edge = Edge<Int>(capacity: 2_000)
            let chunk = Chunk(Array(0..<300))
            try await edge.send(chunk)
            try await edge.send(chunk)
            try await edge.send(chunk.prefix(290))
            try await edge.send(Chunk(Array(0..<300)).dropFirst(290))
            #expect(try await edge.next() == chunk)
            #expect(try await edge.next() == chunk)
            #expect(try await edge.next() == chunk.prefix(290))
            #expect(try await edge.next() == Chunk(Array(290..<300)))
        }
    }

    @Test func packedElementsAreWeighedAsTheySay() throws {
        try Simulation.run { simulation in
            let edge = Edge<Int>(capacity: 100, weightLimit: 10, weigh: { $0 })
            let producer = Task(executorPreference: simulation.loop) {
                try await edge.send(Chunk(packed: PackedNumbers([4, 6, 1, 25, 3])))
            }
            try await simulation.clock.sleep(for: .seconds(1))
            #expect(edge.count == 2)
            #expect(try await edge.next(max: 1) == [4])
            #expect(try await edge.next() == [6, 1])
            #expect(try await edge.next() == [25])
            try await producer.value
            #expect(try await edge.next() == [3])
        }
    }

    @Test func smallPackedChunksAreJoined() throws {
        try Simulation.run { _ in
            let edge = Edge<Int>(capacity: 1_000)
            try await edge.send([1, 2])
            try await edge.send(Chunk(packed: PackedNumbers([3, 4])))
            try await edge.send(Chunk(packed: PackedNumbers(Array(5...90))))
            #expect(try await edge.next() == [1, 2, 3, 4])
            let large = try await edge.next()
            #expect(large?.packed?.range == 0..<86)
            #expect(large?.last == 90)
        }
    }

    @Test func weightAndDropping() throws {
        try Simulation.run { _ in
            let newest = Edge<Int>(capacity: 100, policy: .dropOldest, weightLimit: 10, weigh: { $0 })
            try await newest.send([4, 3, 2, 5])
            #expect(try await newest.next() == [3, 2, 5])
            #expect(newest.dropped == 1)
            let oldest = Edge<Int>(capacity: 100, policy: .dropNewest, weightLimit: 10, weigh: { $0 })
            try await oldest.send([4, 3, 5, 2, 1, 9])
            #expect(try await oldest.next() == [4, 3, 2, 1])
            #expect(oldest.dropped == 2)
            let first = Edge<Int>(capacity: 100, policy: .dropLast, weightLimit: 10, weigh: { $0 })
            try await first.send([4, 3, 2, 5])
            #expect(try await first.next() == [4, 5])
            #expect(first.dropped == 2)
        }
    }

    // MARK: - The end

    @Test func theLastProducerEndsIt() throws {
        try Simulation.run { _ in
            let edge = Edge<Int>(capacity: 10, producers: 1)
            edge.addProducer()
            try await edge.send([1])
            edge.finish()
            try await edge.send([2])
            edge.finish()
            await #expect(throws: EdgeClosed.self) { try await edge.send([3]) }
            #expect(try await edge.next() == [1, 2])
            #expect(try await edge.next() == nil)
            #expect(try await edge.next() == nil)
        }
    }

    @Test func anErrorComesAfterWhatIsBufferedAndWaiting() throws {
        try Simulation.run { simulation in
            let edge = Edge<Int>(capacity: 2, producers: 2)
            let producer = Task(executorPreference: simulation.loop) { try await edge.send([1, 2, 3]) }
            try await simulation.clock.sleep(for: .seconds(1))
            edge.fail(TestError("first"))
            edge.fail(TestError("second"))
            await #expect(throws: EdgeClosed.self) { try await edge.send([4]) }
            #expect(try await edge.next() == [1, 2])
            try await producer.value
            #expect(try await edge.next() == [3])
            for _ in 0..<2 { await #expect(throws: TestError("first")) { try await edge.next() } }
        }
    }

    @Test func closeReturnsWhatWasBufferedAndEndsEverybodysWait() throws {
        try Simulation.run { simulation in
            let edge = Edge<Int>(capacity: 2)
            let producer = Task(executorPreference: simulation.loop) {
                try await edge.send([1, 2, 3], shielded: true)
            }
            try await simulation.clock.sleep(for: .seconds(1))
            #expect(edge.close() == [1, 2])
            #expect(edge.close() == [])
            await #expect(throws: EdgeClosed.self) { try await producer.value }
            await #expect(throws: EdgeClosed.self) { try await edge.send([4]) }
            #expect(try await edge.next() == nil)
            #expect(edge.count == 0)
            #expect(edge.waitingCount == 0)
        }
    }

    @Test func abortEndsBothSidesByCancellation() throws {
        try Simulation.run { simulation in
            let full = Edge<Int>(capacity: 1)
            let producer = Task(executorPreference: simulation.loop) { try await full.send([1, 2], shielded: true) }
            let empty = Edge<Int>(capacity: 1)
            let consumer = Task(executorPreference: simulation.loop) { try await empty.next() }
            try await simulation.clock.sleep(for: .seconds(1))
            #expect(full.abort() == [1])
            #expect(empty.abort() == [])
            await #expect(throws: CancellationError.self) { try await producer.value }
            await #expect(throws: CancellationError.self) { try await consumer.value }
            await #expect(throws: CancellationError.self) { try await full.send([3]) }
            await #expect(throws: CancellationError.self) { try await full.next() }
        }
    }

    @Test func closeAndFinishWakeAWaitingConsumer() throws {
        try Simulation.run { simulation in
            for end in [{ $0.close() }, { $0.finish() }] as [@Sendable (Edge<Int>) -> Void] {
                let edge = Edge<Int>(capacity: 1)
                let consumer = Task(executorPreference: simulation.loop) { try await edge.next() }
                try await simulation.clock.sleep(for: .seconds(1))
                end(edge)
                #expect(try await consumer.value == nil)
            }
        }
    }

    // MARK: - Cancellation

    @Test func aCancelledSenderWithdrawsAtOnce() throws {
        try Simulation.run { simulation in
            let edge = Edge<Int>(capacity: 2)
            let producer = Task(executorPreference: simulation.loop) { try await edge.send([1, 2, 3, 4]) }
            let behind = Task(executorPreference: simulation.loop) { try await edge.send([5]) }
            try await simulation.clock.sleep(for: .seconds(1))
            #expect(edge.waitingCount == 3)
            producer.cancel()
            await #expect(throws: CancellationError.self) { try await producer.value }
            #expect(edge.waitingCount == 1)
            #expect(try await edge.next() == [1, 2])
            try await behind.value
            #expect(try await edge.next() == [5])
        }
    }

    @Test func aCancelledSenderLetsALighterOneIn() throws {
        try Simulation.run { simulation in
            let edge = Edge<Int>(capacity: 9, weightLimit: 10, weigh: { $0 })
            try await edge.send([5])
            let heavy = Task(executorPreference: simulation.loop) { try await edge.send([8]) }
            let light = Task(executorPreference: simulation.loop) { try await edge.send([4]) }
            try await simulation.clock.sleep(for: .seconds(1))
            heavy.cancel()
            await #expect(throws: CancellationError.self) { try await heavy.value }
            try await light.value
            #expect(try await edge.next() == [5, 4])
        }
    }

    @Test func aShieldedSenderGoesOnWaiting() throws {
        try Simulation.run { simulation in
            let edge = Edge<Int>(capacity: 1)
            let producer = Task(executorPreference: simulation.loop) {
                try await edge.send([1, 2], shielded: true)
                return Task.isCancelled
            }
            try await simulation.clock.sleep(for: .seconds(1))
            producer.cancel()
            try await simulation.clock.sleep(for: .seconds(1))
            #expect(edge.waitingCount == 1)
            #expect(try await edge.next() == [1])
            #expect(try await producer.value)
            #expect(try await edge.next() == [2])
        }
    }

    @Test func aCancelledConsumerLosesNothing() throws {
        try Simulation.run { simulation in
            let edge = Edge<Int>(capacity: 4)
            let consumer = Task(executorPreference: simulation.loop) { try await edge.next() }
            try await simulation.clock.sleep(for: .seconds(1))
            consumer.cancel()
            await #expect(throws: CancellationError.self) { try await consumer.value }
            try await edge.send([1])
            #expect(try await edge.next() == [1])
            // Cancelled before it asks: at once, also when something is there.
            try await edge.send([2])
            let late = Task(executorPreference: simulation.loop) { try await edge.next() }
            late.cancel()
            await #expect(throws: CancellationError.self) { try await late.value }
            #expect(try await edge.next() == [2])
        }
    }

    // MARK: - Several producers

    @Test func producersAreServedInTurnAndEachKeepsItsOrder() throws {
        for seed in SimulationSeeds.range(200) {
            try Simulation.run(seed: seed) { simulation in
                var random = SplitMix64(seed: seed)
                let edge = Edge<Int>(capacity: Int.random(in: 1...7, using: &random), producers: 4)
                let maximum = Int.random(in: 1...9, using: &random)
                let cuts = (0..<4).map { producer in cut((0..<25).map { producer * 100 + $0 }, &random) }
                try await withThrowingDiscardingTaskGroup { group in
                    for cuts in cuts {
                        group.addTask {
                            for cut in cuts { try await edge.send(Chunk(cut)) }
                            edge.finish()
                        }
                    }
                    var taken: [Int] = []
                    while let chunk = try await edge.next(max: maximum) {
                        #expect((1...maximum).contains(chunk.count))
                        taken += chunk
                        if chunk.count % 2 == 0 { await Task.yield() }
                    }
                    for producer in 0..<4 {
                        #expect(taken.filter { $0 / 100 == producer } == (0..<25).map { producer * 100 + $0 })
                    }
                    #expect(taken.count == 100)
                }
            }
        }
    }

    @Test func nothingIsLostOrRepeatedOnRealThreads() async throws {
        let edge = Edge<Int>(capacity: 5, producers: 4)
        try await withThrowingDiscardingTaskGroup { group in
            for producer in 0..<4 {
                group.addTask {
                    for number in 0..<2000 { try await edge.send(Chunk(one: producer * 10_000 + number)) }
                    edge.finish()
                }
            }
            var last = [Int](repeating: -1, count: 4)
            while let chunk = try await edge.next() {
                for number in chunk {
                    #expect(number % 10_000 == last[number / 10_000] + 1)
                    last[number / 10_000] = number % 10_000
                }
            }
            #expect(last == [1999, 1999, 1999, 1999])
        }
    }

    @Test func cancellationOnRealThreadsNeverHangs() async throws {
        for _ in 0..<2000 {
            let edge = Edge<Int>(capacity: 1)
            let producer = Task { try await edge.send([1, 2, 3]) }
            let consumer = Task { try await edge.next() }
            producer.cancel()
            consumer.cancel()
            _ = await (producer.result, consumer.result)
        }
    }
}

/// Numbers that are made when they are asked for, and weigh as much as they are.
private final class PackedNumbers: PackedElements {
    private let numbers: [Int]

    init(_ numbers: [Int]) { self.numbers = numbers }

    var count: Int { numbers.count }
    func element(at index: Int) -> Int { numbers[index] }
    func weight(of range: Range<Int>) -> Int { numbers[range].reduce(0, +) }
}
