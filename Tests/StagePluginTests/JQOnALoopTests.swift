// feedbus: jq on the threads of a real loop.

import FeedbusPlugin
import FeedbusTestKit
import MapPlugin
import Synchronization
import Testing

/// The first loop of the process: jobs that come from threads without a loop land on it.
private let home: LoopThread = {
    do { return try LoopThread(running: EventLoop.make(name: "home")) } catch { fatalError("\(error)") }
}()

/// Runs `body` on a loop of its own, which must close cleanly at the end.
private func withLoop<Result: Sendable>(
    _ body: @escaping @Sendable (EventLoop) async throws -> Result
) async throws -> Result {
    _ = home
    let loop = try EventLoop.make(name: "jq")
    let thread = try LoopThread(running: loop)
    let result = await loop.task { try await body(loop) }.result
    loop.stop()
    await thread.join()
    return try result.get()
}

private func context(on loop: EventLoop, refused: @escaping @Sendable (Event, String) -> Void) -> PluginContext {
    struct Nobody: HTTPTransport {
        func send(_ request: HTTPRequest) async throws -> HTTPResponse { throw FeedbusError("test", "no network here") }
    }
    let log = Log(node: "node", level: .debug) { _ in }
    let http = PoliteClient(
        transport: Nobody(), ledger: ServiceLedger(), retry: RetryPolicy(), clock: loop.clock, log: log, seed: 1)
    return PluginContext(
        node: "node", log: log, clock: loop.clock, mode: RunMode(), retry: RetryPolicy(), onError: .pass, http: http,
        host: loop, directory: "/", seed: 1, headline: { _ in nil }, refused: refused, loadCursor: { _ in nil })
}

struct JQOnALoopTests {
    /// The last one never comes back from a call within jq, which no flag reaches.
    @Test(arguments: ["def f: f; f", "last(range(1e12))", #"(\"aé\" | gsub(\"\"; \"x\"))"#])
    func anExpressionWithoutEndIsStoppedAndItsNeighboursGoOn(expression: String) async throws {
        let with = #"{"jq": "if . == 2 then \#(expression) else . * 10 end", "time_limit": "2s"}"#
        let refused = Mutex<[String]>([])
        let data = try await withLoop { loop in
            let context = context(on: loop) { event, reason in refused.withLock { $0.append("\(event.id): \(reason)") }
            }
            let stage = try Map(options: MapOptions.decoded(from: with), context: context)
            let first = try await stage.process(Chunk((1...3).map { event("\($0)", id: "\($0)") }))
            let second = try await stage.process(Chunk([2, 4].map { event("\($0)", id: "\($0)") }))
            return (Array(first) + Array(second)).map(\.data.string)
        }
        #expect(data == ["10", "30", "40"])
        let reasons = refused.withLock(\.self)
        #expect(reasons.count == 2)
        #expect(reasons.allSatisfy { $0.hasPrefix("2: ") && $0.hasSuffix("it took longer than 2s and was stopped") })
    }

    /// Once the program stops, its clock lets nobody wait beyond the grace: here the grace is over.
    @Test func aStopDoesNotWaitForAnExpressionWithoutEnd() async throws {
        struct Over: EventClock {
            let base: any EventClock
            var now: Instant { base.now }
            var wallTime: WallTime { base.wallTime }
            func sleep(until deadline: Instant) async throws { throw CancellationError() }
        }
        let refused = Counter()
        try await withLoop { loop in
            var context = context(on: loop) { _, _ in refused.add(1) }
            context.clock = Over(base: loop.clock)
            let stage = try Map(options: MapOptions.decoded(from: #"{"jq": "def f: f; f"}"#), context: context)
            await #expect(throws: CancellationError.self) {
                try await stage.process(Chunk([event("1", id: "1"), event("2", id: "2")]))
            }
        }
        #expect(refused.value == 0)
    }

    @Test func manyInstancesWorkAtOnce() async throws {
        let outputs = try await withLoop { loop in
            let context = context(on: loop) { _, _ in }
            return try await withThrowingTaskGroup(of: [String].self) { group in
                for number in 0..<4 {
                    group.addTask(executorPreference: loop.taskExecutor) {
                        let stage = try Map(
                            options: MapOptions.decoded(from: #"{"jq": "{a: .n, b: (.s | ascii_upcase)}"}"#),
                            context: context)
                        var data: [String] = []
                        for _ in 0..<20 {
                            let chunk = Chunk((0..<50).map { event("{\"n\":\($0),\"s\":\"x\(number)\"}", id: "\($0)") })
                            data += try await stage.process(chunk).map(\.data.string)
                        }
                        return data
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(outputs.count == 4)
        for data in outputs {
            #expect(data.count == 1000)
            #expect(data[49].hasPrefix(#"{"a":49,"b":"X"#))
        }
    }
}
