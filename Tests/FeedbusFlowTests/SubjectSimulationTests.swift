// feedbus: subscribers join and leave at random while a subject emits, in a seeded order of everything.

import FeedbusBase
import FeedbusFlow
import FeedbusTestKit
import Testing

@Suite struct SubjectSimulationTests {
    /// How many seeds the large simulation runs through: 10,000 in release, and 2,000 where the code is slow.
    #if DEBUG
        static let seeds = 2_000 as UInt64
    #else
        static let seeds = 10_000 as UInt64
    #endif

    /// Several producers send 1, 2, 3, …; the number is drawn when the send's turn has come (by `retain`, which is called
    /// once a send), so each run has one true order. Whatever a subscriber sees must be a piece of that order without a
    /// gap, from its replayed part to where it left.
    @Test(arguments: [false, true]) func everySubscriberSeesAPieceWithoutGaps(_ crowded: Bool) throws {
        for seed in SimulationSeeds.range(Self.seeds).prefix(crowded ? 4 : .max) {
            do {
                try Simulation.run(seed: seed) { simulation in
                    var random = SplitMix64(seed: seed)
                    let replay = Int.random(in: 0...4, using: &random)
                    let subject = Subject<Int>(
                        replay: replay, scope: Bool.random(using: &random) ? .forever : .whileConnected,
                        pace: Bool.random(using: &random) ? .slowest : .each)
                    let total = 60
                    let subscribers = crowded ? 1000 : Int.random(in: 1...12, using: &random)
                    try await withThrowingDiscardingTaskGroup { group in
                        let producerSeed = random.next()
                        group.addTask {
                            var random = SplitMix64(seed: producerSeed)
                            var next = 1
                            while next <= total {
                                let size = Int.random(in: 1...min(5, total - next + 1), using: &random)
                                try await subject.send(Chunk(Array(next..<next + size)))
                                next += size
                                for _ in 0..<Int.random(in: 0...3, using: &random) { await Task.yield() }
                            }
                            subject.finish()
                        }
                        for _ in 0..<subscribers {
                            let seed = random.next()
                            group.addTask { try await subscribe(to: subject, replay: replay, total: total, seed: seed) }
                        }
                    }
                    #expect(subject.subscriberCount == 0, "seed \(seed)")
                }
            } catch {
                Issue.record(error, "seed \(seed)")
            }
        }
    }

    private func subscribe(to subject: Subject<Int>, replay: Int, total: Int, seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<Int.random(in: 0...40, using: &random) { await Task.yield() }
        let subscription = subject.subscribe(capacity: Int.random(in: 1...8, using: &random))
        let wanted = Bool.random(using: &random) ? Int.max : Int.random(in: 1...20, using: &random)
        var seen: [Int] = []
        for try await number in subscription {
            seen.append(number)
            if seen.count == wanted { break }
            if Int.random(in: 0..<4, using: &random) == 0 { await Task.yield() }
        }
        guard let first = seen.first else { return }
        #expect(seen == Array(first..<first + seen.count), "a gap or a repetition with seed \(seed)")
        if wanted == .max { #expect(seen.last == total, "the end is missing with seed \(seed)") }
    }

    /// With several producers: all subscribers that are there from the start see one order, and each producer's own order.
    @Test func allSeeOneOrder() throws {
        for seed in SimulationSeeds.range(300) {
            try Simulation.run(seed: seed) { simulation in
                var random = SplitMix64(seed: seed)
                let subject = Subject<Int>()
                let subscriptions = (0..<5).map { _ in
                    subject.subscribe(capacity: Int.random(in: 1...6, using: &random))
                }
                let seen = subscriptions.map { _ in Recorder<Int>() }
                let cuts = (0..<3).map { producer in cut((0..<20).map { producer * 100 + $0 }, &random) }
                try await withThrowingDiscardingTaskGroup { group in
                    for (subscription, recorder) in zip(subscriptions, seen) {
                        group.addTask {
                            for try await chunk in subscription.chunks {
                                recorder.append(contentsOf: chunk)
                                await Task.yield()
                            }
                        }
                    }
                    group.addTask {
                        try await withThrowingDiscardingTaskGroup { group in
                            for cuts in cuts {
                                group.addTask { for cut in cuts { try await subject.send(Chunk(cut)) } }
                            }
                        }
                        subject.finish()
                    }
                }
                let order = seen[0].values
                #expect(order.count == 60, "seed \(seed)")
                #expect(seen.allSatisfy { $0.values == order }, "seed \(seed)")
                for producer in 0..<3 {
                    #expect(order.filter { $0 / 100 == producer } == (0..<20).map { producer * 100 + $0 })
                }
            }
        }
    }

    /// Random cancellation of senders and subscribers never hangs and never breaks the order of what is seen.
    @Test func cancellationAtRandomNeverHangs() throws {
        for seed in SimulationSeeds.range(300) {
            do {
                try Simulation.run(seed: seed) { simulation in
                    var random = SplitMix64(seed: seed)
                    let subject = Subject<Int>(replay: 3)
                    var tasks: [Task<Void, any Error>] = []
                    for _ in 0..<4 {
                        let capacity = Int.random(in: 1...3, using: &random)
                        tasks.append(
                            Task(executorPreference: simulation.loop) {
                                var last = 0
                                for try await number in subject.subscribe(capacity: capacity) {
                                    #expect(number > last)
                                    last = number
                                    await Task.yield()
                                }
                            })
                    }
                    let next = Counter()
                    for _ in 0..<3 {
                        tasks.append(
                            Task(executorPreference: simulation.loop) {
                                while true {
                                    // Drawn and sent in one step: no suspension between, so the order of turns is theirs.
                                    let number = next.next()
                                    try await subject.send(Chunk(one: number))
                                    await Task.yield()
                                    if number > 200 { return }
                                }
                            })
                    }
                    while !tasks.isEmpty {
                        for _ in 0..<Int.random(in: 0...20, using: &random) { await Task.yield() }
                        let task = tasks.remove(at: Int.random(in: 0..<tasks.count, using: &random))
                        task.cancel()
                        _ = await task.result
                    }
                    #expect(subject.subscriberCount == 0)
                }
            } catch {
                Issue.record(error, "seed \(seed)")
            }
        }
    }
}
