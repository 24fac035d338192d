// feedbus: what it costs to hand something on within one loop.

import FeedbusBase
import FeedbusFlow
import FeedbusLoop
import Synchronization

/// Two actors of one loop that call each other: the same executor object, so no queueing.
struct ActorCall: Benchmark {
    static let name = "actor-call"
    static let unit = "call from actor to actor on one loop"
    static let operations = 1_000_000
    static let limit: Double? = 3_000

    func run(on loop: EventLoop) async throws -> Int {
        let host = loop
        let counter = Counter(host: host)
        return await Caller(host: host, counter: counter).call(Self.operations)
    }

    private actor Counter {
        private let host: EventLoop
        private var count = 0
        nonisolated var unownedExecutor: UnownedSerialExecutor { host.serialExecutor }
        init(host: EventLoop) { self.host = host }
        func add() -> Int {
            count += 1
            return count
        }
    }

    private actor Caller {
        private let host: EventLoop
        private let counter: Counter
        nonisolated var unownedExecutor: UnownedSerialExecutor { host.serialExecutor }
        init(host: EventLoop, counter: Counter) {
            self.host = host
            self.counter = counter
        }
        func call(_ times: Int) async -> Int {
            var sum = 0
            for _ in 0..<times { sum &+= await counter.add() }
            return sum
        }
    }
}

/// One task waits on a continuation that another one resumes, back and forth.
struct ContinuationHandOff: Benchmark {
    static let name = "hand-off"
    static let unit = "hand-off between two tasks of one loop by a continuation"
    static let operations = 200_000
    static let limit: Double? = 3_000

    func run(on loop: EventLoop) async throws -> Int {
        let host = loop
        let baton = Baton()
        let times = Self.operations / 2
        let other = host.task {
            var sum = 0
            for _ in 0..<times {
                sum += await baton.take(.ping)
                baton.pass(.pong)
            }
            return sum
        }
        var sum = 0
        for _ in 0..<times {
            baton.pass(.ping)
            sum += await baton.take(.pong)
        }
        return try await other.value + sum
    }

    private final class Baton: Sendable {
        enum Side { case ping, pong }
        private struct State {
            var ready: Set<Int> = []
            var waiters: [Int: UnsafeContinuation<Void, Never>] = [:]
        }
        private let state = Mutex(State())

        func pass(_ side: Side) {
            let key = side == .ping ? 0 : 1
            let waiter = state.withLock { state in
                if let waiter = state.waiters.removeValue(forKey: key) { return Optional(waiter) }
                state.ready.insert(key)
                return nil
            }
            waiter?.resume()
        }

        func take(_ side: Side) async -> Int {
            let key = side == .ping ? 0 : 1
            await withUnsafeContinuation { continuation in
                let now = state.withLock { state in
                    if state.ready.remove(key) != nil { return true }
                    state.waiters[key] = continuation
                    return false
                }
                if now { continuation.resume() }
            }
            return 1
        }
    }
}

/// A producer and a consumer with an edge between them, in the way of a graph's nodes.
private func handOff(_ count: Int, capacity: Int, on loop: EventLoop) async throws -> Int {
    let edge = Edge<Int>(capacity: capacity)
    let producer = loop.task {
        for number in 0..<count { try await edge.send(Chunk(one: number), shielded: true) }
        edge.finish()
    }
    let sum = UncheckedSum()
    try await edge.drain { sum.value += $0.count }
    try await producer.value
    return sum.value
}

/// Room for one chunk: each of them is handed off with back-pressure. The consumer waits, gets one and finds a second one
/// buffered, and a third one comes in when that is taken: so two tasks are resumed for three chunks.
struct EdgeHandOff: Benchmark {
    static let name = "edge"
    static let unit = "chunk of one through an edge with room for one, between two tasks of one loop"
    static let operations = 100_000
    static let limit: Double? = 1_000

    func run(on loop: EventLoop) async throws -> Int { try await handOff(Self.operations, capacity: 1, on: loop) }
}

/// Room as a node of a graph has it by default: the tasks take turns by 256 chunks.
struct EdgeHandOffRoomy: Benchmark {
    static let name = "edge-roomy"
    static let unit = "chunk of one through an edge with room for 256, between two tasks of one loop"
    static let operations = 1_000_000
    static let limit: Double? = 1_000

    func run(on loop: EventLoop) async throws -> Int { try await handOff(Self.operations, capacity: 256, on: loop) }
}
