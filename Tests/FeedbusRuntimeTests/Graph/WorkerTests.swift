// feedbus: several instances of a stage that share its work.

import FeedbusBase
import FeedbusFlow
import FeedbusPlugin
import FeedbusTestKit
import Synchronization
import Testing

@testable import FeedbusRuntime

extension PlannedNode {
    fileprivate static func workers(
        _ number: Int, from: [String], events: Int = 1_024, bytes: Int = 16 << 20,
        _ script: @escaping ScriptedChunkStage.Script
    ) -> PlannedNode {
        var node = chunkStage("work", from: from, events: events, script)
        node.workers = number
        node.buffer.bytes = bytes
        return node
    }
}

struct WorkerTests {
    /// How many are at work, and how many there have been at once.
    private final class Crew: Sendable {
        private let state = Synchronization.Mutex<(now: Int, most: Int)>((0, 0))
        var most: Int { state.withLock { $0.most } }
        func enter() {
            state.withLock { state in
                state.now += 1
                state.most = max(state.most, state.now)
            }
        }
        func leave() { state.withLock { $0.now -= 1 } }
    }

    private static func log(_ journal: Journal) -> PlannedNode {
        .sink("log", from: ["work"]) { numbers, _ in
            for number in numbers { journal.note("log \(number)") }
        }
    }

    @Test(arguments: [1, 2, 3, 8]) func soManyAreAtWorkAtOnceAndTheOrderIsKept(workers: Int) throws {
        let journal = Journal()
        let crew = Crew()
        let report = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    .ticks("count", 1...24, every: .zero, journal),
                    .workers(workers, from: ["count"], events: 1) { events, context in
                        crew.enter()
                        defer { crew.leave() }
                        // The first of each round takes longest.
                        let number = Int(events[0].id.string)!
                        try await context.clock.sleep(for: .milliseconds(100 - number % 8 * 10))
                        return events
                    },
                    Self.log(journal),
                ])
            return try await bench.run()
        }
        #expect(crew.most == workers)
        #expect(journal.lines.filter { $0.hasPrefix("log") } == (1...24).map { "log \($0)" })
        #expect(journal.saved.last == "count=24")
        #expect(report.exitCode == 0)
        if workers == 8 { #expect(report.elapsed < .milliseconds(500)) }
    }

    @Test func eachInstanceHoldsOneChunkAndNoMore() throws {
        let journal = Journal()
        _ = try Simulation.run { simulation in
            let gate = Gate()
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    .ticks("count", 1...100, every: .zero, journal),
                    .workers(3, from: ["count"], events: 1) { events, _ in
                        await gate.pass()
                        return events
                    },
                    Self.log(journal),
                ])
            return try await bench.run {
                try await simulation.clock.sleep(for: .seconds(1))
                // One in the hands of each, one in the buffer.
                #expect(journal.count("count emitted") == 4)
                gate.open()
            }
        }
        #expect(journal.count("log") == 100)
    }

    /// Nobody waits for the one that takes long, until so much is finished: two chunks of each instance, or the bytes that
    /// the buffer may hold.
    @Test(arguments: [(16 << 20, 5), (1_000, 1)]) func whatIsFinishedBeforeItsTurnIsBounded(
        bytes: Int, finished: Int
    ) throws {
        let journal = Journal()
        _ = try Simulation.run { simulation in
            let gate = Gate()
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    .ticks("count", 1...100, every: .zero, journal),
                    .workers(2, from: ["count"], events: 1, bytes: bytes) { events, _ in
                        if events[0].id == "1" { await gate.pass() }
                        journal.note("worked")
                        var event = events[0]
                        event.data = Bytes(String(repeating: "1", count: 1_000))
                        return [event]
                    },
                    Self.log(journal),
                ])
            return try await bench.run {
                try await simulation.clock.sleep(for: .seconds(1))
                #expect(journal.count("worked") == finished)
                #expect(journal.count("log") == 0)
                // What is finished, the one in hand, and one in the buffer.
                #expect(journal.count("count emitted") == finished + 2)
                gate.open()
            }
        }
        #expect(journal.lines.filter { $0.hasPrefix("log") } == (1...100).map { "log \($0)" })
    }

    /// The way out blocks: what is finished waits, and nothing more is taken.
    @Test func aBlockedWayOutHoldsTheInstancesBack() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal, grace: .seconds(2),
                nodes: [
                    .ticks("count", 1...100, every: .zero, journal),
                    .workers(2, from: ["count"], events: 1) { events, _ in events },
                    .sink("log", from: ["work"], events: 1) { _, _ in
                        try await simulation.clock.sleep(for: .seconds(3_600))
                    },
                ])
            return try await bench.run {
                try await simulation.clock.sleep(for: .seconds(5))
                await bench.graph.stop(because: "the test")
            }
        }
        // In the sink one, in its buffer one, on the way out one, finished five, in the buffer of the stage one.
        #expect(journal.count("count emitted") == 9)
        // And the one that waited for room.
        #expect(report.nodes.reduce(0) { $0 + $1.undelivered } == 10)
        #expect(journal.saved == [])
    }

    @Test func whatWaitsIsSharedOut() throws {
        let journal = Journal()
        _ = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    .source("count") { output, _ in try await output.emit(numbered(1...16)) },
                    .workers(4, from: ["count"], events: 16) { events, context in
                        journal.note("chunk \(events.count)")
                        try await context.clock.sleep(for: .seconds(1))
                        return events
                    },
                    Self.log(journal),
                ])
            return try await bench.run()
        }
        #expect(journal.lines.filter { $0.hasPrefix("chunk") } == Array(repeating: "chunk 4", count: 4))
    }

    @Test func aFailureLosesTheChunkOfThatInstanceOnly() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal,
                nodes: [
                    .ticks("count", 1...9, every: .zero, journal),
                    .workers(3, from: ["count"], events: 1) { events, context in
                        // 5 fails while 4 and 6 are under way.
                        try await context.clock.sleep(for: .milliseconds(events[0].id == "5" ? 10 : 50))
                        if events[0].id == "5" { throw Refused() }
                        return events
                    },
                    Self.log(journal),
                ])
            return try await bench.run {
                try await simulation.clock.sleep(for: .seconds(60))
                await bench.graph.stop(because: "the test")
            }
        }
        #expect(journal.lines.filter { $0.hasPrefix("log") } == [1, 2, 3, 4, 6, 7, 8, 9].map { "log \($0)" })
        #expect(report.node("work").undelivered == 1)
        #expect(report.node("work").failure == nil)
        #expect(journal.saved.last == "count=4")
        #expect(journal.logged.contains { $0.hasPrefix("warning work: failed: refused; 1 event under way") })
    }

    @Test func aFailureIsNoticedWhileTheOthersWaitForEvents() throws {
        let journal = Journal()
        _ = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal,
                nodes: [
                    .ticks("count", 1...2, every: .seconds(1_000), journal),
                    .workers(2, from: ["count"]) { events, _ in
                        if events[0].id == "1" { throw Refused() }
                        return events
                    },
                    Self.log(journal),
                ])
            return try await bench.run {
                try await simulation.clock.sleep(for: .seconds(1))
                #expect(journal.logged.contains { $0.hasPrefix("warning work: failed: refused") })
                try await simulation.clock.sleep(for: .seconds(1_100))
                await bench.graph.stop(because: "the test")
            }
        }
        #expect(journal.count("log 2") == 1)
    }

    @Test func theEndByItselfComesInItsPlace() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    .ticks("count", 1...50, every: .zero, journal),
                    .workers(4, from: ["count"], events: 1) { events, context in
                        if events[0].id == "6" { throw StageFinished("enough", last: events) }
                        try await context.clock.sleep(for: .milliseconds(Int(events[0].id.string)! % 3))
                        return events
                    },
                    Self.log(journal),
                ])
            return try await bench.run()
        }
        #expect(journal.lines.filter { $0.hasPrefix("log") } == (1...6).map { "log \($0)" })
        #expect(journal.saved.last == "count=50")
        #expect(journal.logged.contains("info work: enough"))
        #expect(report.exitCode == 0)
    }

    @Test func whatTheGraceCutsOffIsCounted() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal, grace: .seconds(2),
                nodes: [
                    .ticks("count", 1...10, every: .zero, journal),
                    .workers(3, from: ["count"], events: 2) { events, _ in
                        try await simulation.clock.sleep(for: .seconds(3_600))
                        return events
                    },
                    Self.log(journal),
                ])
            return try await bench.run {
                try await simulation.clock.sleep(for: .seconds(5))
                await bench.graph.stop(because: "the test")
            }
        }
        // Three under way, two in the buffer, and the one that waited for room.
        #expect(journal.count("count emitted") == 5)
        #expect(report.node("work").undelivered == 6)
        #expect(report.exitCode == 1)
        #expect(journal.saved == [])
    }

    @Test(arguments: 0..<30) func everySeedKeepsTheOrder(seed: UInt64) throws {
        let journal = Journal()
        let report = try Simulation.run(seed: seed) { simulation in
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    .source("count") { output, context in
                        for start in stride(from: 1, to: 200, by: 7) {
                            try await output.emit(
                                numbered(start..<min(start + 7, 200)),
                                saving: [CursorUpdate("cursor", Bytes("\(start)"))])
                            try await context.clock.sleep(for: .milliseconds(start % 3))
                        }
                    },
                    .workers(4, from: ["count"], events: 5) { events, context in
                        try await context.clock.sleep(for: .milliseconds(Int(events[0].id.string)! * 7 % 11))
                        return Chunk(events.filter { Int($0.id.string)! % 5 != 0 })
                    },
                    Self.log(journal),
                ])
            return try await bench.run()
        }
        #expect(
            journal.lines.filter { $0.hasPrefix("log") } == (1..<200).filter { $0 % 5 != 0 }.map { "log \($0)" },
            "seed \(seed)")
        #expect(journal.saved.last == "count=197", "seed \(seed)")
        #expect(report.exitCode == 0)
    }
}
