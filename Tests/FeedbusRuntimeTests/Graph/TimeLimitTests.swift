// feedbus: plugins that hang: the node's `timeout` bounds each of their calls, and the rest of the graph goes on.

import FeedbusBase
import FeedbusFlow
import FeedbusPlugin
import FeedbusTestKit
import Synchronization
import Testing

@testable import FeedbusRuntime

struct TimeLimitTests {
    private static func count(_ numbers: ClosedRange<Int>) -> PlannedNode {
        .source("count") { output, _ in
            for number in numbers {
                try await output.emit(numbered([number]), saving: [CursorUpdate("cursor", Bytes("\(number)"))])
            }
        }
    }

    private static func timed(_ node: PlannedNode, _ timeout: Duration) -> PlannedNode {
        var node = node
        node.timeout = timeout
        return node
    }

    /// Notes what is written and when; the writes whose numbers are named hang, the first time they come.
    private static func sink(
        _ name: String, from: String, _ simulation: Simulation, _ journal: Journal, hangs: Set<Int> = [],
        _ hang: @escaping @Sendable (PluginContext) async throws -> Void = { _ in }
    ) -> PlannedNode {
        let left = Synchronization.Mutex(hangs)
        let start = simulation.clock.now
        return .sink(name, from: [from], events: 1) { numbers, context in
            for number in numbers where left.withLock({ $0.remove(number) }) != nil { try await hang(context) }
            journal.note("\(name) \(numbers) at \((simulation.clock.now - start).text)")
        }
    }

    /// A run in which some writes of one sink, with a timeout of 30 s, hang the first time they come.
    private static func slowWrites(
        of numbers: ClosedRange<Int>, _ journal: Journal, hangs: Set<Int>,
        _ hang: @escaping @Sendable (PluginContext) async throws -> Void
    ) throws -> GraphReport {
        try Simulation.run { simulation in
            let slow = sink("slow", from: "count", simulation, journal, hangs: hangs, hang)
            return try await GraphBench(
                simulation, journal, once: true, nodes: [count(numbers), timed(slow, .seconds(30))]
            ).run()
        }
    }

    @Test func aWriteThatHangsIsCancelledAndTriedAgain() throws {
        let journal = Journal()
        let report = try Self.slowWrites(of: 1...3, journal, hangs: [2]) { context in
            try await context.clock.sleep(for: .seconds(3_600))
        }
        // 30 s until it is cancelled, and the pause of 1 s before the second try.
        #expect(journal.lines == ["slow [1] at 0ms", "slow [2] at 31s", "slow [3] at 31s"])
        #expect(
            journal.logged.contains(
                "warning slow: write failed: took longer than its \"timeout\" of 30s; trying again in 1s (try 1 of 5)"))
        #expect(report.node("slow").delivered == 3)
        #expect(report.node("slow").failure == nil)
        #expect(journal.saved.last == "count=3")
    }

    @Test func aWriteThatDoesNotEndWhenCancelledFailsItsNodeAlone() throws {
        let journal = Journal()
        let gate = Gate()
        let report = try Simulation.run { simulation in
            let report = try await GraphBench(
                simulation, journal, once: true,
                nodes: [
                    Self.count(1...3),
                    Self.timed(
                        // A gate knows nothing of cancellation.
                        Self.sink("stuck", from: "count", simulation, journal, hangs: [2]) { _ in await gate.pass() },
                        .seconds(30)),
                    Self.sink("other", from: "count", simulation, journal),
                ]
            ).run()
            gate.open()
            return report
        }
        #expect(journal.lines.filter { $0.hasPrefix("other") }.count == 3)
        #expect(report.node("other").delivered == 3)
        #expect(report.node("stuck").delivered == 1)
        #expect(report.node("stuck").undelivered == 2)
        #expect(
            report.node("stuck").failure
                == "write failed: took longer than its \"timeout\" of 30s, and did not end within 5s of being cancelled"
        )
        // It still holds the event, whose emission cannot settle.
        #expect(report.node("count").failure == "1 emission did not settle within the shutdown grace")
        // What the stuck one did not take is not safe.
        #expect(journal.saved.last == "count=1")
    }

    @Test func aWriteThatComesToItsEndWhileItIsCancelledCounts() throws {
        let journal = Journal()
        let report = try Self.slowWrites(of: 1...2, journal, hangs: [1]) { context in
            try? await context.clock.sleep(for: .seconds(3_600))
        }
        #expect(journal.lines == ["slow [1] at 30s", "slow [2] at 30s"])
        #expect(report.node("slow").delivered == 2)
        #expect(!journal.logged.contains { $0.contains("timeout") })
    }

    @Test func aCallWithinItsLimitIsLeftAlone() throws {
        let journal = Journal()
        let report = try Self.slowWrites(of: 1...3, journal, hangs: [1, 2, 3]) { context in
            try await context.clock.sleep(for: .seconds(29))
        }
        #expect(journal.lines == ["slow [1] at 29s", "slow [2] at 58s", "slow [3] at 87s"])
        #expect(report.node("slow").failure == nil)
    }

    @Test func aStageThatHangsIsStartedAgainWithoutTheChunk() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            let hangs = Synchronization.Mutex(Set([2]))
            let bench = GraphBench(
                simulation, journal,
                nodes: [
                    Self.count(1...3),
                    Self.timed(
                        .chunkStage("stage", from: ["count"], events: 1) { events, context in
                            let number = Int(events[0].id.string)!
                            if hangs.withLock({ $0.remove(number) }) != nil {
                                try await context.clock.sleep(for: .seconds(3_600))
                            }
                            return events
                        }, .seconds(10)),
                    Self.sink("log", from: "stage", simulation, journal),
                ])
            return try await bench.run {
                try await simulation.clock.sleep(for: .seconds(600))
                await bench.graph.stop(because: "the test")
            }
        }
        #expect(report.node("log").delivered == 2)
        #expect(report.node("stage").undelivered == 1)
        #expect(
            journal.logged.contains {
                $0.hasPrefix(
                    "warning stage: failed: took longer than its \"timeout\" of 10s; 1 event under way left undelivered;"
                        + " starting again in")
            })
    }

    @Test func aSlowConsumerIsNoFaultOfTheStageBeforeIt() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            try await GraphBench(
                simulation, journal, once: true,
                nodes: [
                    Self.count(1...4),
                    Self.timed(.chunkStage("stage", from: ["count"], events: 1) { events, _ in events }, .seconds(10)),
                    Self.sink("log", from: "stage", simulation, journal, hangs: [1, 2, 3, 4]) { context in
                        try await context.clock.sleep(for: .seconds(60))
                    },
                ]
            ).run()
        }
        #expect(report.node("log").delivered == 4)
        #expect(report.node("stage").failure == nil)
        #expect(!journal.logged.contains { $0.contains("timeout") })
    }

    @Test func aStopDoesNotWaitForTheLimit() throws {
        let journal = Journal()
        let took = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal, grace: .seconds(10),
                nodes: [
                    Self.count(1...1),
                    Self.timed(
                        Self.sink("slow", from: "count", simulation, journal, hangs: [1]) { context in
                            try await context.clock.sleep(for: .seconds(3_600))
                        }, .seconds(1_800)),
                ])
            let start = simulation.clock.now
            _ = try await bench.run {
                try await simulation.clock.sleep(for: .seconds(5))
                await bench.graph.stop(because: "the test")
            }
            return simulation.clock.now - start
        }
        #expect(took == .seconds(5))
    }
}
