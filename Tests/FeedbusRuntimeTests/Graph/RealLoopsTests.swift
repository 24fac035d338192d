// feedbus: the whole program on one loop and on several, on real threads.

import FeedbusBase
import FeedbusFlow
import FeedbusPlugin
import Glibc
import Synchronization
import Testing

@testable import FeedbusRuntime

/// Run these under the thread sanitizer as well.
@Suite(.serialized) struct RealLoopsTests {
    private static func run(
        loops: Int, _ journal: Journal, for duration: Duration? = nil, grace: Duration = .seconds(10),
        nodes: [PlannedNode]
    ) -> Int32 {
        let state = StateForTest()
        defer { state.remove() }
        var settings = Settings()
        settings.state = state.folder
        settings.loops = loops
        settings.shutdownGrace = grace
        settings.logLevel = .error
        var options = RunOptions()
        options.once = duration == nil
        options.forDuration = duration
        return FeedbusProgram.run(
            plan: Plan(settings: settings, nodes: nodes), options: options, registry: PluginRegistry())
    }

    /// Two sources, a subject, stages with and without workers, forks, narrow buffers: each sink gets all, in order.
    @Test(arguments: [1, 2, 3, 4]) func everySinkGetsAllInOrder(loops: Int) {
        let journal = Journal()
        let last = 20_000
        func source(_ name: String) -> PlannedNode {
            .source(name) { output, _ in
                for start in stride(from: 1, through: last, by: 50) {
                    try await output.emit(
                        numbered(start..<start + 50), saving: [CursorUpdate("cursor", Bytes("\(start)"))])
                }
            }
        }
        func sum(_ name: String, from: [String], events: Int) -> PlannedNode {
            let seen = Seen()
            return .sink(name, from: from, events: events) { numbers, context in
                seen.add(numbers)
                // Some writes take the way over the pool.
                if numbers[0] % 3 == 0 { try await context.host.offload {} }
                if seen.count == last { journal.note("\(name) \(seen.isInOrder)") }
            }
        }
        var work = PlannedNode.chunkStage("work", from: ["s"], events: 200) { events, context in
            try await context.host.offload { events }
        }
        work.workers = 3
        let code = Self.run(
            loops: loops, journal,
            nodes: [
                source("s"), source("t"),
                .subject("all", from: ["s"], replay: 10),
                work,
                .stage("again", from: ["work"]) { $0.map { $0 } },
                .chunkStage("other", from: ["t"], events: 64) { events, _ in events },
                sum("a", from: ["again"], events: 100), sum("b", from: ["all"], events: 7),
                sum("c", from: ["other"], events: 1_000), sum("d", from: ["work"], events: 64),
            ])
        #expect(code == 0)
        #expect(Set(journal.lines) == ["a true", "b true", "c true", "d true"])
    }

    /// What a sink has seen.
    private final class Seen: Sendable {
        private let state = Synchronization.Mutex<(count: Int, isInOrder: Bool)>((0, true))
        var count: Int { state.withLock { $0.count } }
        var isInOrder: Bool { state.withLock { $0.isInOrder } }
        func add(_ numbers: [Int]) {
            state.withLock { state in
                for number in numbers {
                    state.count += 1
                    if number != state.count { state.isInOrder = false }
                }
            }
        }
    }

    /// The code of a node runs on the node's own loop, and nowhere else.
    @Test func eachNodeIsOnItsLoop() {
        let journal = Journal()
        @Sendable func note(_ name: String) { journal.note("\(name) \(currentThread())") }
        let code = Self.run(
            loops: 3, journal,
            nodes: [
                .source("s") { output, context in
                    note("s")
                    for number in 1...20 {
                        try await output.emit(numbered([number]))
                        try await context.clock.sleep(for: .milliseconds(1))
                        note("s")
                    }
                },
                .chunkStage("w", from: ["s"], events: 2) { events, context in
                    note("w")
                    try await context.clock.sleep(for: .milliseconds(1))
                    note("w")
                    return events
                },
                .sink("a", from: ["w"]) { _, context in
                    note("a")
                    try await context.host.offload {}
                    note("a")
                },
                .sink("b", from: ["s"]) { _, context in
                    note("b")
                    try await context.task { try await context.clock.sleep(for: .milliseconds(1)) }.value
                    note("b")
                },
            ])
        #expect(code == 0)
        let threads = Dictionary(grouping: Set(journal.lines)) { String($0.prefix(1)) }
        #expect(threads.mapValues(\.count) == ["s": 1, "w": 1, "a": 1, "b": 1])
        func thread(_ name: String) -> Substring? { threads[name]?.first?.dropFirst(2) }
        #expect(thread("w") == thread("a"))
        #expect(Set(["s", "w", "b"].map(thread)).count == 3)
    }

    /// A stop from outside, while chunks are under way on all loops, and with sinks that the grace has to cut off.
    @Test(arguments: [1, 2, 3]) func aStopEndsEveryLoop(loops: Int) {
        let journal = Journal()
        func endless(_ name: String) -> PlannedNode {
            .source(name) { output, _ in
                var number = 0
                while !Task.isCancelled {
                    number += 1
                    try await output.emit(numbered([number]))
                }
            }
        }
        let code = Self.run(
            loops: loops, journal, for: .milliseconds(200), grace: .milliseconds(300),
            nodes: [
                endless("s"), endless("t"),
                .stage("same", from: ["s"]) { $0 },
                .sink("a", from: ["same"], events: 16) { numbers, _ in journal.note("a") },
                .sink("slow", from: ["t"], events: 16) { _, context in
                    try await context.clock.sleep(for: .seconds(3_600))
                },
            ])
        // What the slow one held is undelivered.
        #expect(code == 1)
        #expect(journal.count("a") > 0)
    }
}

/// Never inlined: the optimiser takes `pthread_self()` for constant and keeps it across a suspension.
@inline(never)
private func currentThread() -> pthread_t { pthread_self() }
