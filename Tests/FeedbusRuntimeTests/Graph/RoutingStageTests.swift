// feedbus: stages with several ways out, in a graph.

import FeedbusBase
import FeedbusFlow
import FeedbusPlugin
import FeedbusTestKit
import Testing

@testable import FeedbusRuntime

/// A routing stage that divides chunks as the test says.
actor ScriptedSwitch: RoutingStage {
    typealias Options = ScriptedSource.Options
    typealias Script = @Sendable (Chunk<Event>) throws -> [Chunk<Event>]
    static let name = "ScriptedSwitch"
    static let summary = "divides chunks"
    nonisolated let context: PluginContext
    private let script: Script

    static func routes(of options: Options) -> [String] { [] }

    init(options: Options, context: PluginContext) { fatalError("made with a script") }

    init(context: PluginContext, script: @escaping Script) {
        self.context = context
        self.script = script
    }

    func route(_ events: Chunk<Event>) async throws -> [Chunk<Event>] { try script(events) }
}

extension PlannedNode {
    fileprivate static func routing(
        _ name: String, _ routes: [String], from: [String], events: Int = 1_024,
        _ script: @escaping ScriptedSwitch.Script
    ) -> PlannedNode {
        var buffer = BufferPlan()
        buffer.events = events
        return PlannedNode(
            name: name, plugin: "Scripted",
            role: .routing(routes: routes) { ScriptedSwitch(context: $0, script: script) },
            from: from, buffer: buffer)
    }

    fileprivate static func log(_ name: String, _ journal: Journal, from: [String], events: Int = 1_024) -> PlannedNode
    {
        .sink(name, from: from, events: events) { numbers, _ in
            for number in numbers { journal.note("\(name) \(number)") }
        }
    }
}

/// Even numbers, multiples of three, and the rest.
@Sendable private func twosAndThrees(_ events: Chunk<Event>) -> [Chunk<Event>] {
    func those(_ isIncluded: (Int) -> Bool) -> Chunk<Event> {
        Chunk(events.filter { isIncluded(Int($0.id.string)!) })
    }
    return [those { $0 % 2 == 0 }, those { $0 % 3 == 0 }, those { $0 % 2 != 0 && $0 % 3 != 0 }]
}

struct RoutingStageTests {
    private static let count = PlannedNode.source("count") { output, _ in
        try await output.emit(numbered(1...6), saving: [CursorUpdate("cursor", "6")])
        try await output.emit(numbered(7...12), saving: [CursorUpdate("cursor", "12")])
    }

    @Test func eachRouteGetsWhatIsIts() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    Self.count, .routing("by", ["two", "three"], from: ["count"], twosAndThrees),
                    .log("twos", journal, from: ["by.two"]), .log("threes", journal, from: ["by.three"]),
                    .log("rest", journal, from: ["by.unmatched"]),
                ])
            return try await bench.run()
        }
        #expect(journal.lines.filter { $0.hasPrefix("twos") } == [2, 4, 6, 8, 10, 12].map { "twos \($0)" })
        #expect(journal.lines.filter { $0.hasPrefix("threes") } == [3, 6, 9, 12].map { "threes \($0)" })
        #expect(journal.lines.filter { $0.hasPrefix("rest") } == [1, 5, 7, 11].map { "rest \($0)" })
        #expect(journal.saved.last == "count=12")
        #expect(report.node("by").unmatched == 0)
        #expect(report.exitCode == 0)
    }

    @Test func whatNoRouteTakesIsCountedAndSettledWhereNobodyReadsIt() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    Self.count, .routing("by", ["two", "three"], from: ["count"], twosAndThrees),
                    .log("both", journal, from: ["by.two", "by.three"]),
                ])
            let report = try await bench.run()
            report.log(to: Log(level: .trace) { journal.log($0) })
            return report
        }
        #expect(journal.count("both") == 10)
        #expect(report.node("by").unmatched == 4)
        #expect(journal.saved.last == "count=12")
        #expect(report.exitCode == 0)
        #expect(
            journal.logged.contains(
                "info by: 4 events took no route and went no further (read them as \"by.unmatched\")"))
    }

    @Test func whatOneRouteDoesNotDeliverHoldsTheCursor() throws {
        let journal = Journal()
        _ = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    Self.count, .routing("by", ["two", "three"], from: ["count"], twosAndThrees),
                    .log("twos", journal, from: ["by.two"]),
                    .sink("threes", from: ["by.three"], events: 2, retry: RetryPolicy(attempts: 1)) { numbers, _ in
                        if numbers.contains(9) { throw Refused() }
                    },
                ])
            return try await bench.run()
        }
        #expect(journal.saved == ["count=6"])
    }

    @Test func aSlowRouteDoesNotKeepFromTheOthersWhatIsTheirs() throws {
        let journal = Journal()
        _ = try Simulation.run { simulation in
            let gate = Gate()
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    .source("count") { output, _ in try await output.emit(numbered(1...60)) },
                    .routing("by", ["two", "three"], from: ["count"], twosAndThrees),
                    .sink("twos", from: ["by.two"], events: 1) { _, _ in await gate.pass() },
                    .log("threes", journal, from: ["by.three"], events: 1),
                ])
            return try await bench.run {
                try await simulation.clock.sleep(for: .seconds(1))
                #expect(journal.count("threes") == 20)
                gate.open()
            }
        }
    }

    @Test func aJoinOfTwoRoutesDoesNotWaitForEver() throws {
        let journal = Journal()
        _ = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    .source("count") { output, _ in try await output.emit(numbered(1...200)) },
                    .routing("by", ["low", "high"], from: ["count"], events: 500) { events in
                        [
                            Chunk(events.filter { Int($0.id.string)! <= 100 }),
                            Chunk(events.filter { Int($0.id.string)! > 100 }), [],
                        ]
                    },
                    .join("pairs", from: ["by.low", "by.high"], events: 2) { inputs in
                        .zip(inputs.map(\.events), buffer: 0).map { row in
                            Event(
                                joining: row, origin: row[0].origin,
                                id: Bytes("\(Int(row[0].id.string)! + Int(row[1].id.string)!)"), data: "{}")
                        }
                    },
                    .log("log", journal, from: ["pairs"]),
                ])
            return try await bench.run()
        }
        #expect(journal.lines.filter { $0.hasPrefix("log") } == (1...100).map { "log \(100 + 2 * $0)" })
    }

    @Test func aFailureLosesTheChunkInHandAndNothingElse() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal,
                nodes: [
                    .ticks("count", 1...6, every: .seconds(1), journal),
                    .routing("by", ["two", "three"], from: ["count"]) { events in
                        if events[0].id == "2" { throw Refused() }
                        return twosAndThrees(events)
                    },
                    .log("log", journal, from: ["by.two", "by.three", "by.unmatched"]),
                ])
            return try await bench.run {
                try await simulation.clock.sleep(for: .seconds(60))
                await bench.graph.stop(because: "the test")
            }
        }
        // 6 is on two routes.
        #expect(journal.lines.filter { $0.hasPrefix("log") } == [1, 3, 4, 5, 6, 6].map { "log \($0)" })
        #expect(report.node("by").undelivered == 1)
        #expect(journal.saved == ["count=1"])
    }

    @Test func aPartTooFewIsAnErrorOfThePlugin() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    Self.count, .routing("by", ["two", "three"], from: ["count"]) { [$0, []] },
                    .log("log", journal, from: ["by.two", "by.three"]),
                ])
            return try await bench.run()
        }
        #expect(journal.lines == [])
        #expect(report.node("by").undelivered == 12)
        #expect(report.node("by").failure?.hasPrefix("ScriptedSwitch made 2 parts for 2 routes and the rest") == true)
    }

    @Test func itMayEndByItself() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    .ticks("count", 1...6, every: .seconds(1), journal),
                    .routing("by", ["two", "three"], from: ["count"]) { events in
                        if events[0].id == "4" { throw StageFinished("enough") }
                        return twosAndThrees(events)
                    },
                    .log("log", journal, from: ["by.two", "by.three"]),
                ])
            return try await bench.run()
        }
        #expect(journal.lines.filter { $0.hasPrefix("log") } == ["log 2", "log 3"])
        #expect(journal.logged.contains("info by: enough"))
        // Then no sink is left, and so no need for the source.
        #expect(journal.saved.last == "count=4")
        #expect(report.exitCode == 0)
    }
}
