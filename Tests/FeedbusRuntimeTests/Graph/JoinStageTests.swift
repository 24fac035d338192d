// feedbus: stages that join several nodes, in a graph: order, buffers, receipts, failures and ends.

import FeedbusBase
import FeedbusFlow
import FeedbusPlugin
import FeedbusTestKit
import Testing

@testable import FeedbusRuntime

/// A join that applies what the test gives it.
actor ScriptedJoin: JoinStage {
    typealias Options = ScriptedSource.Options
    typealias Script = @Sendable ([StageInput]) throws -> Flow<Event>
    static let name = "ScriptedJoin"
    static let summary = "applies a script"
    nonisolated let context: PluginContext
    private let script: Script

    init(options: Options, context: PluginContext) { fatalError("made with a script") }

    init(context: PluginContext, script: @escaping Script) {
        self.context = context
        self.script = script
    }

    func transform(_ inputs: [StageInput]) async throws -> Flow<Event> { try script(inputs) }
}

extension PlannedNode {
    static func join(
        _ name: String, from: [String], events: Int = 1_024, _ script: @escaping ScriptedJoin.Script
    ) -> PlannedNode {
        var buffer = BufferPlan()
        buffer.events = events
        return PlannedNode(
            name: name, plugin: "Scripted", role: .join { ScriptedJoin(context: $0, script: script) }, from: from,
            buffer: buffer)
    }

    /// Emits one number after the other, the first one at once, with itself as the cursor.
    static func ticks(_ name: String, _ numbers: ClosedRange<Int>, every pause: Duration, _ journal: Journal)
        -> PlannedNode
    {
        .source(name) { output, context in
            for number in numbers {
                try await output.emit(numbered([number]), saving: [CursorUpdate("cursor", Bytes("\(number)"))])
                journal.note("\(name) emitted \(number)")
                try await context.clock.sleep(for: pause)
            }
        }
    }
}

/// The sum of the ids, with all receipts.
private func sum(_ events: [Event]) -> Event {
    let total = events.reduce(0) { $0 + Int($1.id.string)! }
    return Event(joining: events, origin: events[0].origin, id: Bytes("\(total)"), data: "{}")
}

struct JoinStageTests {
    private static func log(_ journal: Journal, from: String) -> PlannedNode {
        .sink("log", from: [from]) { numbers, _ in
            for number in numbers { journal.note("log \(number)") }
        }
    }

    @Test func theInputsComeInTheOrderOfTheConfig() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    .ticks("a", 1...2, every: .seconds(1), journal), .ticks("b", 10...12, every: .zero, journal),
                    .subject("shared", from: ["b"]),
                    .join("both", from: ["shared", "a"]) { inputs in
                        journal.note("inputs \(inputs.map(\.node))")
                        return .concat(inputs.map(\.events))
                    },
                    Self.log(journal, from: "both"),
                ])
            return try await bench.run()
        }
        #expect(journal.lines.contains("inputs [\"shared\", \"a\"]"))
        #expect(journal.lines.filter { $0.hasPrefix("log") } == [10, 11, 12, 1, 2].map { "log \($0)" })
        #expect(report.exitCode == 0)
    }

    @Test(arguments: [1, 16]) func eachInputHasTheBufferForItself(buffer: Int) throws {
        let journal = Journal()
        _ = try Simulation.run { simulation in
            let gate = Gate()
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    .source("first") { output, _ in
                        await gate.pass()
                        try await output.emit(numbered([0]))
                    },
                    .ticks("second", 1...100, every: .zero, journal), .ticks("third", 1...100, every: .zero, journal),
                    .join("all", from: ["first", "second", "third"], events: buffer) { .concat($0.map(\.events)) },
                    Self.log(journal, from: "all"),
                ])
            return try await bench.run {
                try await simulation.clock.sleep(for: .seconds(5))
                // Nobody has asked for them yet: each is held by its own full buffer.
                #expect(journal.count("second emitted") == buffer)
                #expect(journal.count("third emitted") == buffer)
                gate.open()
            }
        }
        #expect(journal.lines.filter { $0.hasPrefix("log") } == ([0] + (1...100) + (1...100)).map { "log \($0)" })
    }

    @Test func bothSourcesMoveOnWhenThePairHasArrivedAndNotBefore() throws {
        let journal = Journal()
        _ = try Simulation.run { simulation in
            let gate = Gate()
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    .ticks("a", 1...2, every: .seconds(1), journal), .ticks("b", 10...11, every: .seconds(1), journal),
                    .join("pairs", from: ["a", "b"]) { .zip($0.map(\.events), buffer: 0).map(sum) },
                    .sink("log", from: ["pairs"]) { numbers, _ in
                        await gate.pass()
                        for number in numbers { journal.note("log \(number)") }
                    },
                ])
            return try await bench.run {
                try await simulation.clock.sleep(for: .seconds(5))
                #expect(journal.saved == [])
                gate.open()
            }
        }
        #expect(journal.lines.filter { $0.hasPrefix("log") } == ["log 11", "log 13"])
        #expect(journal.saved.contains("a=2"))
        #expect(journal.saved.contains("b=11"))
    }

    @Test func aPairThatWasNotDeliveredHoldsBothSourcesBack() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    .ticks("a", 1...3, every: .seconds(1), journal), .ticks("b", 10...12, every: .seconds(1), journal),
                    .join("pairs", from: ["a", "b"]) { .zip($0.map(\.events), buffer: 0).map(sum) },
                    .sink("log", from: ["pairs"], retry: RetryPolicy(attempts: 1)) { numbers, _ in
                        if numbers.contains(13) { throw Refused() }
                    },
                ])
            return try await bench.run()
        }
        #expect(Set(journal.saved) == ["a=1", "b=10"])
        #expect(report.exitCode == 1)
    }

    @Test func aFailedJoinAcknowledgesNothingThatItHeld() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    .ticks("a", 1...4, every: .seconds(1), journal),
                    // 12 is held, without a partner, when the third of a fails, and 13 waits before the join.
                    .source("b") { output, context in
                        for (number, pause) in [(10, 1_000), (11, 500), (12, 100), (13, 0)] {
                            try await output.emit(
                                numbered([number]), saving: [CursorUpdate("cursor", Bytes("\(number)"))])
                            try await context.clock.sleep(for: .milliseconds(pause))
                        }
                    },
                    .join("pairs", from: ["a", "b"]) { inputs in
                        let first = inputs[0].events.map { event in
                            if event.id == "3" { throw Refused() }
                            return event
                        }
                        return .zip([first, inputs[1].events], buffer: 0).map(sum)
                    },
                    Self.log(journal, from: "pairs"),
                ])
            return try await bench.run()
        }
        #expect(journal.lines.filter { $0.hasPrefix("log") } == ["log 11", "log 13"])
        #expect(journal.saved.filter { $0.hasPrefix("a") }.last == "a=2")
        #expect(journal.saved.filter { $0.hasPrefix("b") }.last == "b=11")
        // 3 and 4 of a; 12 and 13 of b.
        #expect(report.node("pairs").undelivered == 4)
        #expect(report.node("pairs").failure != nil)
    }

    @Test func aJoinThatFailedLetsTheOtherReadersOfItsInputsGoOn() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    .ticks("a", 1...50, every: .milliseconds(1), journal),
                    .ticks("b", 1...50, every: .milliseconds(1), journal),
                    .join("broken", from: ["a", "b"], events: 2) { _ in throw Refused() },
                    .sink("void", from: ["broken"]) { _, _ in },
                    .sink("log", from: ["a", "b"]) { numbers, _ in
                        for number in numbers { journal.note("log \(number)") }
                    },
                ])
            return try await bench.run()
        }
        #expect(journal.count("log") == 100)
        #expect(report.node("broken").undelivered == 100)
    }

    @Test func aJoinThatIsCompleteHoldsNobodyUp() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    .ticks("a", 1...2, every: .zero, journal), .ticks("b", 1...100, every: .zero, journal),
                    .join("pairs", from: ["a", "b"], events: 3) { .zip($0.map(\.events), buffer: 0).map(sum) },
                    Self.log(journal, from: "pairs"),
                ])
            return try await bench.run()
        }
        #expect(journal.lines.filter { $0.hasPrefix("log") } == ["log 2", "log 4"])
        #expect(journal.count("b emitted") == 100)
        #expect(journal.saved.last { $0.hasPrefix("b") } == "b=100")
        #expect(report.exitCode == 0)
    }

    @Test func whatWaitsForAPartnerAtTheStopComesAgain() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal,
                nodes: [
                    // Three more than it finds partners; two of them still wait before the join.
                    .ticks("a", 1...5, every: .milliseconds(10), journal),
                    .source("b") { output, context in
                        for number in 10...11 {
                            try await output.emit(
                                numbered([number]), saving: [CursorUpdate("cursor", Bytes("\(number)"))])
                        }
                        try await context.clock.sleep(for: .seconds(3_600))
                    },
                    .join("pairs", from: ["a", "b"]) { .zip($0.map(\.events), buffer: 0).map(sum) },
                    Self.log(journal, from: "pairs"),
                ])
            return try await bench.run {
                try await simulation.clock.sleep(for: .seconds(5))
                await bench.graph.stop(because: "the test")
            }
        }
        #expect(journal.lines.filter { $0.hasPrefix("log") } == ["log 11", "log 13"])
        #expect(journal.saved.last { $0.hasPrefix("a") } == "a=2")
        #expect(journal.saved.last { $0.hasPrefix("b") } == "b=11")
        #expect(report.node("pairs").undelivered == 0)
        #expect(report.exitCode == 0)
        #expect(
            journal.logged.contains {
                $0.hasPrefix("info pairs: 3 events waited for others when the program had to stop")
            })
    }

    @Test func whatIsDrainedAtTheStopDoesNotComeAgain() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            let gate = Gate()
            let bench = GraphBench(
                simulation, journal,
                nodes: [
                    .ticks("a", 1...6, every: .milliseconds(10), journal),
                    .ticks("b", 11...16, every: .milliseconds(10), journal),
                    .join("pairs", from: ["a", "b"], events: 10) { .zip($0.map(\.events), buffer: 0).map(sum) },
                    .sink("log", from: ["pairs"], events: 1) { numbers, _ in
                        await gate.pass()
                        for number in numbers { journal.note("log \(number)") }
                    },
                ])
            return try await bench.run {
                try await simulation.clock.sleep(for: .seconds(5))
                await bench.graph.stop(because: "the test")
                gate.open()
            }
        }
        #expect(journal.count("log") == 6)
        #expect(journal.saved.last { $0.hasPrefix("a") } == "a=6")
        #expect(journal.saved.last { $0.hasPrefix("b") } == "b=16")
        #expect(report.exitCode == 0)
        #expect(!journal.logged.contains { $0.contains("waited for others") })
    }

    @Test func anEventThatMeetsItselfIsSettledOnce() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    .ticks("a", 1...3, every: .zero, journal), .subject("same", from: ["a"]),
                    .join("pairs", from: ["a", "same"]) { .zip($0.map(\.events), buffer: 0).map(sum) },
                    Self.log(journal, from: "pairs"),
                ])
            return try await bench.run()
        }
        #expect(journal.lines.filter { $0.hasPrefix("log") } == ["log 2", "log 4", "log 6"])
        #expect(journal.saved.last == "a=3")
        #expect(report.exitCode == 0)
    }

    @Test(arguments: 0..<30) func everySeedSettlesEverything(seed: UInt64) throws {
        let journal = Journal()
        let report = try Simulation.run(seed: seed) { simulation in
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    .ticks("a", 1...20, every: .milliseconds(2), journal),
                    .ticks("b", 100...130, every: .milliseconds(3), journal),
                    .join("latest", from: ["a", "b"], events: 3) { .combineLatest($0.map(\.events)).map(sum) },
                    .join("pairs", from: ["a", "b"], events: 2) { .zip($0.map(\.events), buffer: 0).map(sum) },
                    .join("all", from: ["latest", "pairs"], events: 2) { .merge($0.map(\.events)) },
                    Self.log(journal, from: "all"),
                ])
            return try await bench.run()
        }
        #expect(report.exitCode == 0, "seed \(seed)")
        #expect(journal.saved.last { $0.hasPrefix("a") } == "a=20", "seed \(seed)")
        #expect(journal.saved.last { $0.hasPrefix("b") } == "b=130", "seed \(seed)")
        #expect(report.node("pairs").delivered == 20, "seed \(seed)")
        #expect(report.node("latest").delivered == 50, "seed \(seed)")
        #expect(journal.count("log") == 70, "seed \(seed)")
    }
}
