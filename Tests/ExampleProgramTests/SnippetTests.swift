// feedbus: the snippets of Docs/ComingFrom.md, run. `ComingFromTests` compares the page with this file.

import Feedbus
import FeedbusTestKit
import Synchronization
import Testing

private struct Outage: Error {}

/// Values in the order in which they came.
private final class Seen<Value: Sendable>: Sendable {
    private let state = Mutex<[Value]>([])
    var values: [Value] { state.withLock { $0 } }
    func append(_ value: Value) { state.withLock { $0.append(value) } }
}

struct SnippetTests {
    @Test func firstLook() throws {
        try Simulation.run { _ in
            let numbers = Flow.from(1...5)
            let odd = numbers.filter { $0 % 2 == 1 }.map { $0 * $0 }
            let squares = try await odd.array()
            #expect(squares == [1, 9, 25])
        }
    }

    @Test func aSubscriptionIsATask() throws {
        try Simulation.run { simulation in
            let bench = PluginBench(simulation)
            let app = bench.app()
            let ticks = Flow.interval(.seconds(1), clock: app.clock)

            let task = app.host.task {
                try await ticks.take(3).collect { chunk in
                    for tick in chunk { try await app.print("next \(tick)") }
                }
                try await app.print("completed")
            }
            try await task.value
            #expect(bench.lines == ["next 0", "next 1", "next 2", "completed"])

            let endless = app.host.task { try await ticks.collect { _ in } }
            endless.cancel()
            await #expect(throws: CancellationError.self) { try await endless.value }
        }
    }

    @Test func severalAtATime() throws {
        try Simulation.run { simulation in
            let bench = PluginBench(simulation)
            let app = bench.app()

            try await withThrowingTaskGroup { group in
                group.addTask(executorPreference: app.host.taskExecutor) {
                    try await Flow.interval(.seconds(1), clock: app.clock).collect { _ in try await app.print("tick") }
                }
                group.addTask(executorPreference: app.host.taskExecutor) {
                    try await app.clock.sleep(for: .milliseconds(2_500))
                }
                // The first that ends, by itself or by an error, ends all.
                try await group.next()
                group.cancelAll()
            }
            #expect(bench.lines == ["tick", "tick"])
        }
    }

    @Test func aSourceOfOnesOwn() throws {
        try Simulation.run { simulation in
            let clock = simulation.clock
            let seen = Seen<String>()

            let countdown = Flow<Int> { emit in
                defer { seen.append("released") }
                for number in [3, 2, 1] {
                    try await emit([number])
                    try await clock.sleep(for: .seconds(1))
                }
            }
            let first = try await countdown.first()
            #expect(first == 3)
            #expect(seen.values == ["released"])
        }
    }

    @Test func errorsAreThrown() throws {
        try Simulation.run { simulation in
            let seen = Seen<String>()
            let failing = Flow.concat([.just(1), .fail(Outage())])

            do {
                try await failing.collect { chunk in for number in chunk { seen.append("next \(number)") } }
                seen.append("completed")
            } catch is Outage {
                seen.append("failed")
            }
            #expect(seen.values == ["next 1", "failed"])

            let mended = try await failing.catch { error in .just(error is Outage ? 2 : 3) }.array()
            #expect(mended == [1, 2])
        }
    }

    @Test func chunksTravel() throws {
        try Simulation.run { _ in
            let sizes = Seen<Int>()

            try await Flow.from(1...1_000).collect { chunk in sizes.append(chunk.count) }
            #expect(sizes.values == [256, 256, 256, 232])
        }
    }

    @Test func aSlowConsumerHoldsItsProducer() throws {
        try Simulation.run { simulation in
            let clock = simulation.clock
            let produced = Seen<Int>()
            let numbers = Flow.from(1...1_000, chunk: 1).do(onNext: { produced.append($0[0]) })

            let task = Task(executorPreference: simulation.loop) {
                try await numbers.collect { _ in try await clock.sleep(for: .seconds(1)) }
            }
            try await clock.sleep(for: .milliseconds(2_500))
            #expect(produced.values == [1, 2, 3])
            task.cancel()
            _ = await task.result

            let newest = try await numbers.buffer(1, policy: .latest)
                .do(onNext: { _ in try await clock.sleep(for: .seconds(1)) })
                .array()
            #expect(newest.last == 1_000 && newest.count < 5)
        }
    }

    @Test func aLateSubscriber() throws {
        try Simulation.run { simulation in
            let clock = simulation.clock
            let subject = Subject<Int>(replay: 2)
            let slow = subject.subscribe(capacity: 1)

            async let sending: Void = subject.send([1, 2, 3])
            try await clock.sleep(for: .seconds(1))
            // The emission is under way: `slow` has room for one of the three.
            let late = subject.subscribe()
            async let early = Flow.from(slow).array()
            try await sending
            try await subject.send([4])
            subject.finish()
            let (slows, lates) = (try await early, try await Flow.from(late).array())
            #expect(slows == [1, 2, 3, 4])
            #expect(lates == [2, 3, 4])
        }
    }

    @Test func replayAfterAnError() throws {
        try Simulation.run { _ in
            let attempts = Seen<Int>()
            let flaky = Flow<Int> { emit in
                attempts.append(attempts.values.count + 1)
                try await emit([attempts.values.count])
                if attempts.values.count == 1 { throw Outage() }
            }

            let anew = try await flaky.share(replay: 1).retry(attempts: 2).array()
            #expect(anew == [1, 2])
        }
        try Simulation.run { _ in
            let attempts = Seen<Int>()
            let flaky = Flow<Int> { emit in
                attempts.append(attempts.values.count + 1)
                try await emit([attempts.values.count])
                if attempts.values.count == 1 { throw Outage() }
            }

            let kept = flaky.share(replay: 1, scope: .forever)
            let events = try await kept.retry(attempts: 2).materialize().array()
            #expect(events.count == 3)  // 1, 1 again by replay, and the same error
            #expect(attempts.values == [1])
            guard case .next(1) = events[1], case .failed(let error) = events[2] else {
                Issue.record("\(events)")
                return
            }
            #expect(error is Outage)
        }
    }

    @Test func aScopeThatForgets() throws {
        try Simulation.run { _ in
            for (scope, expected) in [(SubjectScope.whileConnected, [2]), (.forever, [1, 2])] {
                let subject = Subject<Int>(replay: 5, scope: scope)
                let first = subject.subscribe()
                try await subject.send([1])
                first.cancel()
                let second = subject.subscribe()
                try await subject.send([2])
                subject.finish()
                let got = try await Flow.from(second).array()
                #expect(got == expected)
            }
        }
    }

    @Test func cancellingInOnesOwnHandler() throws {
        try Simulation.run { _ in
            let subject = Subject<Int>()
            let seen = Seen<Int>()
            let subscription = subject.subscribe()
            try await subject.send([1, 2, 3])

            for try await number in subscription {
                seen.append(number)
                if number == 2 { subscription.cancel() }
            }
            #expect(subject.subscriberCount == 0)
            #expect(seen.values == [1, 2])
        }
        try Simulation.run { _ in
            let subject = Subject<Int>()
            let seen = Seen<Int>()
            let subscription = subject.subscribe()
            try await subject.send([1, 2, 3])

            for try await number in subscription {
                seen.append(number)
                if number == 2 { break }
            }
            #expect(seen.values == [1, 2])
        }
    }

    @Test func aSubjectThatFeedsItself() throws {
        try Simulation.run { _ in
            let seen = Seen<Int>()

            let subject = Subject<Int>()
            let subscription = subject.subscribe()
            try await subject.send([3])
            for try await number in subscription {
                seen.append(number)
                if number == 0 { subject.finish() } else { try await subject.send([number - 1]) }
            }
            #expect(seen.values == [3, 2, 1, 0])
        }
    }

    @Test func asyncSequencesBothWays() throws {
        try Simulation.run { _ in
            let seen = Seen<String>()

            let (lines, continuation) = AsyncStream.makeStream(of: String.self)
            for line in ["a", "b", "c"] { continuation.yield(line) }
            let loud = Flow.from(lines).map { $0.uppercased() }
            for try await line in loud.elements() {
                seen.append(line)
                if line == "B" { break }
            }
            #expect(seen.values == ["A", "B"])
        }
    }

    @Test func oneFetchForMany() throws {
        try Simulation.run { simulation in
            let bench = PluginBench(simulation)
            bench.answer("https://example.org/a", "hello")
            let app = bench.app()

            let request = HTTPRequest("https://example.org/a")
            let page = app.fetch(request) { $0.body.string }.share(replay: 1, scope: .forever)
            let first = try await page.array()
            let second = try await page.array()
            #expect(first == ["hello"] && second == first)
            #expect(bench.requests.count == 1)
        }
    }

    @Test func fourAtATime() throws {
        try Simulation.run { simulation in
            let bench = PluginBench(simulation)
            for number in 1...8 { bench.answer("https://example.org/\(number)", "\(number)") }
            bench.delay = .seconds(1)
            let app = bench.app()

            let pages = Flow.from(1...8).flatMap(maxConcurrent: 4) { number in
                app.fetch(HTTPRequest("https://example.org/\(number)")) { $0.body.string }
            }
            let texts = try await pages.array()
            #expect(texts.sorted() == (1...8).map(String.init))
            #expect(app.clock.now == Instant(nanoseconds: 2_000_000_000))
        }
    }

    @Test func virtualTime() throws {
        try Simulation.run { simulation in
            let clock = simulation.clock
            let typed = Flow<String> { emit in
                for (text, pause) in [("f", 100), ("fe", 100), ("fee", 900), ("feed", 0)] {
                    try await emit([text])
                    try await clock.sleep(for: .milliseconds(pause))
                }
            }
            let searched = try await typed.debounce(.milliseconds(300), clock: clock)
                .map { "\(clock.now.nanoseconds / 1_000_000) \($0)" }
                .array()
            #expect(searched == ["500 fee", "1100 feed"])
        }
    }

    @Test func whatIsShort() throws {
        try Simulation.run { simulation in
            let clock = simulation.clock
            let numbers = Flow.from([5, 6, 7])
            @Sendable func name(_ number: Int) async throws -> String {
                try await clock.sleep(for: .seconds(1))
                return "number \(number)"
            }

            let count = numbers.reduce(0) { count, _ in count + 1 }
            let enumerated = numbers.zip(.from(0...))
            let pairwise = numbers.zip(numbers.skip(1))
            let ignoreElements = numbers.filter { _ in false }
            let containsSeven = try await numbers.filter { $0 == 7 }.first() != nil
            let timestamps = numbers.map { (clock.now, $0) }
            let mapLatest = numbers.flatMapLatest { number in
                Flow<String> { emit in try await emit([name(number)]) }
            }
            let repeated = Flow<Int> { emit in
                while true {
                    try Task.checkCancellation()
                    try await numbers.collect(emit)
                }
            }

            #expect(try await count.array() == [3])
            #expect(try await enumerated.map { "\($1) \($0)" }.array() == ["0 5", "1 6", "2 7"])
            #expect(try await pairwise.map { $1 - $0 }.array() == [1, 1])
            #expect(try await ignoreElements.array().isEmpty)
            #expect(containsSeven)
            #expect(try await timestamps.map { $1 }.array() == [5, 6, 7])
            #expect(try await mapLatest.array() == ["number 7"])
            #expect(try await repeated.take(4).array() == [5, 6, 7, 5])
        }
    }
}
