// feedbus: a graph means the same on one loop and on several, under virtual time.

import FeedbusBase
import FeedbusFlow
import FeedbusPlugin
import FeedbusTestKit
import Testing

@testable import FeedbusRuntime

struct GraphLoopsTests {
    /// Each number of loops in the order in which jobs come, and in orders drawn from seeds.
    static let orders: [(loops: Int, seed: UInt64?)] = [1, 2, 3].flatMap { loops in
        [(loops, nil)] + (1...10).map { (loops, $0) }
    }

    private static func log(_ journal: Journal, _ name: String = "log", from: [String]) -> PlannedNode {
        .sink(name, from: from) { numbers, _ in
            for number in numbers { journal.note("\(name) \(number)") }
        }
    }

    @Test(arguments: orders) func theOrderIsKeptThroughChainsAndForks(loops: Int, seed: UInt64?) throws {
        let journal = Journal()
        let report = try Simulation.run(seed: seed) { simulation in
            let bench = GraphBench(
                simulation, journal, once: true, loops: loops,
                nodes: [
                    .ticks("count", 1...60, every: .zero, journal),
                    .subject("all", from: ["count"]),
                    .chunkStage("even", from: ["all"], events: 3) { events, _ in
                        Chunk(events.filter { Int($0.id.string)! % 2 == 0 })
                    },
                    .stage("four", from: ["even"]) { $0.filter { Int($0.id.string)! % 4 == 0 } },
                    Self.log(journal, "a", from: ["four"]), Self.log(journal, "b", from: ["even"]),
                    Self.log(journal, "c", from: ["all"]),
                ])
            return try await bench.run()
        }
        for (name, step) in [("a", 4), ("b", 2), ("c", 1)] {
            #expect(
                journal.lines.filter { $0.hasPrefix("\(name) ") }
                    == stride(from: step, through: 60, by: step).map { "\(name) \($0)" })
        }
        #expect(journal.saved.last == "count=60")
        #expect(report.exitCode == 0)
        #expect(report.node("even").delivered == 30)
    }

    @Test(arguments: orders) func aBlockedSinkStopsItsSourceAfterTwiceItsBuffer(loops: Int, seed: UInt64?) throws {
        let journal = Journal()
        let report = try Simulation.run(seed: seed) { simulation in
            let gate = Gate()
            let bench = GraphBench(
                simulation, journal, once: true, loops: loops,
                nodes: [
                    .source("count") { output, _ in
                        // So many that the sink's first write has them all.
                        try await output.emit(numbered(1...16))
                        for number in 17...200 {
                            try await output.emit(numbered([number]))
                            journal.note("emitted \(number)")
                        }
                    },
                    .sink("stuck", from: ["count"], events: 16) { numbers, _ in
                        journal.note("write \(numbers.count)")
                        await gate.pass()
                    },
                ])
            return try await bench.run {
                try await simulation.clock.sleep(for: .seconds(60))
                #expect(journal.count("emitted") == 16)
                #expect(journal.count("write") == 1)
                gate.open()
            }
        }
        #expect(report.exitCode == 0)
        #expect(report.nodes.last?.delivered == 200)
    }

    @Test(arguments: orders) func aCursorWaitsForTheSlowestSink(loops: Int, seed: UInt64?) throws {
        let journal = Journal()
        _ = try Simulation.run(seed: seed) { simulation in
            let gate = Gate()
            let bench = GraphBench(
                simulation, journal, once: true, loops: loops,
                nodes: [
                    .ticks("count", 1...3, every: .zero, journal),
                    Self.log(journal, "quick", from: ["count"]),
                    .stage("same", from: ["count"]) { $0 },
                    .sink("slow", from: ["same"]) { _, _ in await gate.pass() },
                ])
            return try await bench.run {
                try await simulation.clock.sleep(for: .seconds(60))
                #expect(journal.count("quick") == 3)
                #expect(journal.saved == [])
                gate.open()
            }
        }
        #expect(journal.saved.last == "count=3")
    }

    @Test(arguments: orders) func aStageThatFailsIsStartedAgainWhereItWas(loops: Int, seed: UInt64?) throws {
        let journal = Journal()
        let report = try Simulation.run(seed: seed) { simulation in
            let bench = GraphBench(
                simulation, journal, loops: loops,
                nodes: [
                    .ticks("count", 1...9, every: .seconds(100), journal),
                    .chunkStage("weak", from: ["count"]) { events, _ in
                        if events[0].id == "5" { throw Refused() }
                        return events
                    },
                    Self.log(journal, from: ["weak"]),
                ])
            return try await bench.run {
                try await simulation.clock.sleep(for: .seconds(2_000))
                await bench.graph.stop(because: "the test")
            }
        }
        #expect(journal.lines.filter { $0.hasPrefix("log") } == [1, 2, 3, 4, 6, 7, 8, 9].map { "log \($0)" })
        #expect(report.node("weak").undelivered == 1)
        #expect(journal.saved.last == "count=4")
    }

    @Test(arguments: orders) func workersKeepTheOrder(loops: Int, seed: UInt64?) throws {
        let journal = Journal()
        _ = try Simulation.run(seed: seed) { simulation in
            var work = PlannedNode.chunkStage("work", from: ["count"], events: 5) { events, context in
                try await context.clock.sleep(for: .milliseconds(Int(events[0].id.string)! * 7 % 11))
                return events
            }
            work.workers = 3
            let bench = GraphBench(
                simulation, journal, once: true, loops: loops,
                nodes: [.ticks("count", 1...100, every: .zero, journal), work, Self.log(journal, from: ["work"])])
            return try await bench.run()
        }
        #expect(journal.lines.filter { $0.hasPrefix("log") } == (1...100).map { "log \($0)" })
        #expect(journal.saved.last == "count=100")
    }

    @Test(arguments: orders) func whatTheGraceCutsOffIsCounted(loops: Int, seed: UInt64?) throws {
        let journal = Journal()
        let report = try Simulation.run(seed: seed) { simulation in
            let bench = GraphBench(
                simulation, journal, grace: .seconds(2), loops: loops,
                nodes: [
                    .ticks("count", 1...10, every: .seconds(1), journal),
                    .stage("same", from: ["count"]) { $0 },
                    // The node's own clock: its wait ends at the stop. The others' do not.
                    .sink("waits", from: ["same"]) { _, context in try await context.clock.sleep(for: .seconds(3_600))
                    },
                    .sink("hangs", from: ["count"], events: 1) { _, _ in
                        try await simulation.clock.sleep(for: .seconds(3_600))
                    },
                ])
            return try await bench.run {
                try await simulation.clock.sleep(for: .seconds(60))
                await bench.graph.stop(because: "the test")
            }
        }
        #expect(report.exitCode == 1)
        // One in its hands, one in the buffer, one that waited.
        #expect(report.node("hangs").undelivered == 3)
        #expect(report.node("waits").undelivered == 3)
        #expect(journal.saved == [])
        #expect(report.elapsed == .seconds(62))
    }
}
