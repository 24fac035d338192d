// feedbus: the operators that run several tasks, on the real thread pool: the seeded loop cannot show data races.

import FeedbusFlow
import FeedbusTestKit
import Testing

@Suite struct RealThreadTests {
    private static let size = 500

    private func numbers(_ base: Int = 0) -> Flow<Int> {
        Flow { emit in
            for number in 0..<Self.size {
                try await emit(Chunk(one: base + number))
                if number % 50 == 0 { await Task.yield() }
            }
        }
    }

    private func few() -> Flow<Int> {
        Flow { emit in
            for number in 0..<20 {
                try await emit(Chunk(one: number))
                await Task.yield()
            }
        }
    }

    /// Collects and checks that the collector is never called concurrently.
    private func collect<Element: Sendable>(_ flow: Flow<Element>) async throws -> [Element] {
        let (busy, elements) = (Recorder<Int>(), Recorder<Element>())
        try await flow.collect { chunk in
            busy.append(1)
            #expect(busy.values.count == 1)
            elements.append(contentsOf: chunk)
            busy.removeAll()
        }
        return elements.values
    }

    @Test func merge() async throws {
        let merged = try await collect(.merge([numbers(), numbers(1000), numbers(2000)]))
        for base in [0, 1000, 2000] {
            #expect(merged.filter { $0 / 1000 * 1000 == base } == (0..<Self.size).map { base + $0 })
        }
    }

    @Test func flatMap() async throws {
        let flat = try await collect(numbers().flatMap(maxConcurrent: 7, buffer: 3) { .from([$0, $0 + 1000]) })
        #expect(flat.sorted() == Array(0..<Self.size) + Array(1000..<1000 + Self.size))
    }

    @Test func zip() async throws {
        let zipped = try await collect(numbers().zip(numbers(1000), buffer: 5))
        #expect(zipped.map(\.0) == Array(0..<Self.size))
        #expect(zipped.allSatisfy { $0.1 - $0.0 == 1000 })
    }

    @Test func combineLatestAndWithLatestFrom() async throws {
        let latest = try await collect(numbers().combineLatest(numbers(1000)))
        #expect(latest.last! == (Self.size - 1, 999 + Self.size))
        let sampled = try await collect(numbers().withLatestFrom(.just(7)))
        #expect(sampled.map(\.0) == Array(0..<Self.size))
    }

    @Test func buffer() async throws {
        #expect(try await collect(numbers().buffer(3).map { $0 }.buffer(1)) == Array(0..<Self.size))
    }

    @Test func share() async throws {
        let shared = numbers().share(replay: Self.size)
        for result in try await withThrowingTaskGroup(
            of: [Int].self,
            body: { group in
                for _ in 0..<4 { group.addTask { try await self.collect(shared) } }
                return try await group.reduce(into: []) { $0.append($1) }
            })
        {
            #expect(result == Array(0..<Self.size))
        }
    }

    @Test func takeStopsWhateverIsRunning() async throws {
        for _ in 0..<50 {
            let flow = Flow.merge([numbers(), numbers().flatMap(maxConcurrent: 3) { .just($0) }.share(), .never])
            #expect(try await flow.take(100).array().count == 100)
        }
    }

    @Test func errorsAndCancellationAtAnyMoment() async throws {
        for round in 0..<100 {
            let failing = numbers().map { number in
                if number == round { throw TestError("E") }
                return number
            }
            let flow = Flow.merge([numbers().flatMap { .just($0) }, failing.buffer(2), numbers().share()])
            let task = Task { try await self.collect(flow) }
            if round % 2 == 0 {
                await #expect(throws: TestError("E")) { try await task.value }
            } else {
                await Task.yield()
                task.cancel()
                await #expect(throws: (any Error).self) { try await task.value }
            }
        }
    }

    @Test func amb() async throws {
        for _ in 0..<50 {
            let winner = try await collect(.amb([numbers(), numbers(1000), .never]))
            #expect(winner == Array(0..<Self.size) || winner == Array(1000..<1000 + Self.size))
        }
    }

    @Test func flatMapLatestAndFirst() async throws {
        let latest = try await collect(numbers().flatMapLatest { .from([$0, $0 + 1000], chunk: 1) })
        // The last flow is not stopped; of those before it, as much as there was time for.
        #expect(Array(latest.suffix(2)) == [Self.size - 1, 999 + Self.size])
        #expect(latest.map { $0 % 1000 } == latest.map { $0 % 1000 }.sorted())
        let first = try await collect(numbers().flatMapFirst { .from([$0, $0 + 1000], chunk: 1) })
        #expect(first[0] == 0)
        for index in stride(from: 0, to: first.count, by: 2) { #expect(first[index + 1] == first[index] + 1000) }
    }

    @Test func window() async throws {
        try await withClock { clock in
            let windows = self.numbers().window(count: 7, time: .milliseconds(3), clock: clock, capacity: 5)
            let sizes = try await self.collect(windows.concatMap { $0.toArray() })
            #expect(sizes.flatMap { $0 } == Array(0..<Self.size))
            #expect(sizes.allSatisfy { $0.count <= 7 })
        }
    }

    @Test func aWindowThatOpensWhileTheSourceEnds() async throws {
        try await withClock { clock in
            for _ in 0..<200 {
                let windows = self.few().window(time: .nanoseconds(1), clock: clock)
                let all = try await self.collect(windows.flatMap { $0 })
                #expect(all.sorted() == Array(0..<20))
            }
        }
    }

    @Test func groupBy() async throws {
        let groups = numbers().groupBy(capacity: 3, groups: 4) { $0 % 4 }
        let pairs = try await collect(groups.flatMap { group in group.flow.map { (group.key, $0) } })
        for key in 0..<4 {
            #expect(pairs.filter { $0.0 == key }.map(\.1) == (0..<Self.size).filter { $0 % 4 == key })
        }
    }

    @Test func takenPartsOutliveTheOuterFlow() async throws {
        for count in 1...3 {
            let groups = numbers().groupBy(capacity: 3, groups: 4) { $0 % 4 }
            let all = try await collect(groups.take(count).flatMap { $0.flow })
            #expect(all.sorted() == (0..<Self.size).filter { $0 % 4 < count })
            let some = try await collect(groups.take(count).flatMap { $0.flow.take(5) })
            #expect(some.sorted() == (0..<20).filter { $0 % 4 < count })
            try await withClock { clock in
                let windows = self.numbers().window(count: 7, time: nil, clock: clock, capacity: 5)
                let full = try await self.collect(windows.take(count).flatMap { $0 })
                #expect(full.sorted() == Array(0..<7 * count))
            }
        }
    }

    @Test func aFeedThatIsSharedForEver() async throws {
        let runs = Counter()
        let shared = Flow<Int> { emit in
            _ = runs.next()
            try await emit([7])
            try await Gate().wait()
        }.share(replay: 1, scope: .forever)
        let first = try await shared.first()
        #expect(first == 7)
        try await withThrowingDiscardingTaskGroup { group in
            for _ in 0..<500 { group.addTask { _ = try await shared.first() } }
        }
        #expect(runs.next() == 2)
    }

    @Test func retryWhen() async throws {
        try await withClock { clock in
            let attempts = Counter()
            let failing = Flow<Int> { emit in
                let attempt = attempts.next()
                try await self.numbers().collect(emit)
                if attempt < 5 { throw TestError("E") }
            }
            let retried = failing.retryWhen { errors in
                errors.flatMap { _ in .timer(.milliseconds(1), clock: clock) }.merge(with: .never)
            }
            let all = try await self.collect(retried)
            #expect(all.count == 5 * Self.size)
        }
    }

    @Test func runOnAnotherExecutor() async throws {
        let flow = numbers().run(on: globalConcurrentExecutor, buffer: 3).map { $0 + 1 }
        let all = try await collect(flow.run(on: globalConcurrentExecutor, buffer: 2))
        #expect(all == Array(1...Self.size))
    }

    @Test func intervalAndTimer() async throws {
        try await withClock { clock in
            let even = Flow<Int>.interval(.milliseconds(2), clock: clock).map { $0 * 2 }
            let odd = Flow<Int>.interval(.milliseconds(3), clock: clock).map { $0 * 2 + 1 }
            let ticks = try await self.collect(even.merge(with: odd).take(200))
            #expect(ticks.count == 200)
            for parity in 0...1 {
                let own = ticks.filter { $0 % 2 == parity }
                #expect(own == own.sorted() && Set(own).count == own.count)
            }
            let late = Flow<Int>.timer(.milliseconds(10), clock: clock)
                .timeout(.milliseconds(4), clock: clock, other: .just(7))
            let fallback = try await self.collect(late)
            #expect(fallback == [7])
        }
    }

    /// Virtual time that passes while everybody runs on other threads.
    private func withClock(_ body: @escaping @Sendable (VirtualClock) async throws -> Void) async throws {
        let clock = VirtualClock(loop: ManualLoop())
        try await withThrowingTaskGroup { group in
            group.addTask {
                while !Task.isCancelled {
                    clock.advance(by: .milliseconds(1))
                    await Task.yield()
                }
            }
            group.addTask { try await body(clock) }
            // The first ends only when it is cancelled.
            try await group.next()
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    @Test func aSubjectUnderSubscribersThatComeAndGo() async throws {
        let subject = Subject<Int>(replay: 3)
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask {
                for number in 0..<2000 { try await subject.send(Chunk(one: number)) }
                subject.finish()
            }
            for index in 0..<40 {
                group.addTask {
                    for _ in 0..<index { await Task.yield() }
                    var last: Int?
                    var left = index % 3 == 0 ? Int.max : index * 5
                    for try await number in subject.subscribe(capacity: 1 + index % 5) {
                        if let last { #expect(number == last + 1) }
                        last = number
                        left -= 1
                        if left <= 0 { break }
                    }
                }
            }
        }
        #expect(subject.subscriberCount == 0)
    }
}
