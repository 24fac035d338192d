// feedbus: stages that treat each chunk on its own: what they cost, what a failure of theirs loses, how they end.

import FeedbusBase
import FeedbusFlow
import FeedbusPlugin
import FeedbusTestKit
import Testing

@testable import FeedbusRuntime

/// A stage that answers each chunk with what the test gives it.
actor ScriptedChunkStage: ChunkStage {
    typealias Options = ScriptedSource.Options
    typealias Script = @Sendable (Chunk<Event>, PluginContext) async throws -> Chunk<Event>
    static let name = "ScriptedChunkStage"
    static let summary = "answers chunks"
    nonisolated let context: PluginContext
    private let script: Script

    init(options: Options, context: PluginContext) { fatalError("made with a script") }

    init(context: PluginContext, script: @escaping Script) {
        self.context = context
        self.script = script
    }

    func process(_ events: Chunk<Event>) async throws -> Chunk<Event> { try await script(events, context) }
}

extension PlannedNode {
    static func chunkStage(
        _ name: String, from: [String], events: Int = 1_024, _ script: @escaping ScriptedChunkStage.Script
    ) -> PlannedNode {
        var buffer = BufferPlan()
        buffer.events = events
        return PlannedNode(
            name: name, plugin: "Scripted", role: .stage { ScriptedChunkStage(context: $0, script: script) },
            from: from, buffer: buffer)
    }
}

struct Refused: Error, CustomStringConvertible {
    var description: String { "refused" }
}

extension GraphReport {
    func node(_ name: String) -> Node { nodes.first { $0.name == name }! }
}

struct ChunkStageTests {
    /// Emits chunks of two, one a second, with the last number as the cursor.
    private static func pairs(_ numbers: ClosedRange<Int>) -> PlannedNode {
        .source("count") { output, context in
            for first in stride(from: numbers.lowerBound, through: numbers.upperBound, by: 2) {
                try await output.emit(
                    numbered(first...first + 1), saving: [CursorUpdate("cursor", Bytes("\(first + 1)"))])
                try await context.clock.sleep(for: .seconds(1))
            }
        }
    }

    private static func log(_ journal: Journal, from: String) -> PlannedNode {
        .sink("log", from: [from]) { numbers, _ in
            for number in numbers { journal.note("log \(number)") }
        }
    }

    @Test func theVeryChunkGoesThrough() throws {
        let journal = Journal()
        _ = try Simulation.run { simulation in
            @Sendable func place(_ events: Chunk<Event>) -> String {
                let address = events.withContiguousStorageIfAvailable { $0.baseAddress.map { Int(bitPattern: $0) } }
                return "\(address as Any) \(events[0].receipt.map { "\(ObjectIdentifier($0))" } ?? "none")"
            }
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    Self.pairs(1...2),
                    .chunkStage("first", from: ["count"]) { events, _ in
                        journal.note(place(events))
                        return events
                    },
                    .chunkStage("second", from: ["first"]) { events, _ in
                        journal.note(place(events))
                        return events
                    },
                    .sink("end", from: ["second"]) { _, _ in },
                ])
            return try await bench.run()
        }
        // Neither copied, nor given stand-ins for receipts.
        #expect(journal.lines.count == 2)
        #expect(Set(journal.lines).count == 1)
        #expect(!journal.lines[0].contains("none"))
    }

    @Test func aFailureLosesTheChunkInHandAndNothingElse() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal,
                nodes: [
                    Self.pairs(1...8),
                    .chunkStage("fragile", from: ["count"]) { events, _ in
                        if events.contains(where: { $0.id == "3" }) { throw Refused() }
                        return events
                    },
                    Self.log(journal, from: "fragile"),
                ])
            return try await bench.run {
                try await simulation.clock.sleep(for: .seconds(60))
                await bench.graph.stop(because: "the test")
            }
        }
        #expect(journal.lines == [1, 2, 5, 6, 7, 8].map { "log \($0)" })
        #expect(report.node("fragile").undelivered == 2)
        #expect(report.node("fragile").failure == nil)
        // What was lost holds the cursor back.
        #expect(journal.saved == ["count=2"])
        #expect(
            journal.logged.contains {
                $0.hasPrefix("warning fragile: failed: refused; 2 events under way left undelivered; starting again in")
            })
    }

    @Test func whatTheStageLeftOutIsSafeWhenTheStageFailsLater() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    Self.pairs(1...4),
                    .chunkStage("fragile", from: ["count"]) { events, _ in
                        if events[0].id == "3" { throw Refused() }
                        return []
                    },
                    Self.log(journal, from: "fragile"),
                ])
            return try await bench.run()
        }
        #expect(journal.lines == [])
        #expect(journal.saved == ["count=2"])
        #expect(report.node("fragile").undelivered == 2)
        #expect(report.node("fragile").failure == "refused; 2 events under way left undelivered")
        #expect(report.exitCode == 1)
    }

    @Test(arguments: [1, 16, 100]) func aBlockedSinkStopsTheSourceAfterThreeBuffers(buffer: Int) throws {
        let journal = Journal()
        _ = try Simulation.run { simulation in
            let gate = Gate()
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    .source("count") { output, _ in
                        for number in 1...1_000 {
                            try await output.emit(numbered([number]))
                            journal.note("emitted \(number)")
                        }
                    },
                    .chunkStage("pass", from: ["count"], events: buffer) { events, _ in events },
                    .sink("stuck", from: ["pass"], events: buffer) { _, _ in await gate.pass() },
                ])
            return try await bench.run {
                try await simulation.clock.sleep(for: .seconds(60))
                // In the sink's hands, before the sink, and before the stage; in the hands of the stage the one that woke
                // it when it had emptied its buffer, and one that had come by then, where there was room for it.
                #expect(journal.count("emitted") == 3 * buffer + min(buffer, 2))
                gate.open()
            }
        }
        #expect(journal.count("emitted") == 1_000)
    }

    @Test func anEventThatIsRefusedDoesNotHoldBackItsNeighbours() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    Self.pairs(1...40),
                    .chunkStage("picky", from: ["count"]) { events, context in
                        Chunk(
                            events.filter { event in
                                guard Int(event.id.string)! % 2 == 0 else {
                                    context.refuse(event, reason: "odd")
                                    return false
                                }
                                return true
                            })
                    },
                    Self.log(journal, from: "picky"),
                ])
            return try await bench.run()
        }
        #expect(journal.lines == stride(from: 2, through: 40, by: 2).map { "log \($0)" })
        #expect(report.node("picky").refused == 20)
        #expect(report.node("picky").undelivered == 0)
        #expect(report.exitCode == 0)
        // Given up for good: the source moves on.
        #expect(journal.saved.last == "count=40")
        #expect(
            journal.logged.filter { $0.contains("picky") && $0.contains("refused") } == [
                "warning picky: refused event 1: odd", "warning picky: refused event 3: odd",
                "warning picky: refused event 5: odd", "warning picky: refused event 7: odd",
                "warning picky: refused event 9: odd",
                "warning picky: refused 10 events more, the last one event 29: odd",
                "warning picky: refused 20 events in all",
            ])
    }

    @Test func aStageThatSettlesEventsByFlowMayRefuseToo() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    Self.pairs(1...4),
                    PlannedNode(
                        name: "picky", plugin: "Scripted",
                        role: .stage { context in
                            ScriptedStage(context: context) { input in
                                input.filter { event in
                                    if event.id == "2" { context.refuse(event, reason: "two") }
                                    return event.id != "2"
                                }
                            }
                        }, from: ["count"]),
                    Self.log(journal, from: "picky"),
                ])
            return try await bench.run()
        }
        #expect(journal.lines == ["log 1", "log 3", "log 4"])
        #expect(report.node("picky").refused == 1)
        #expect(journal.saved.last == "count=4")
    }

    @Test func theEndByItselfPassesTheLastEventsAndEndsItsBranchOnly() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    Self.pairs(1...8),
                    .chunkStage("few", from: ["count"]) { events, _ in
                        if events[0].id == "5" { throw StageFinished("enough", last: events.prefix(1)) }
                        return events
                    },
                    .sink("few_log", from: ["few"]) { numbers, _ in
                        for number in numbers { journal.note("few \(number)") }
                    },
                    Self.log(journal, from: "count"),
                ])
            return try await bench.run()
        }
        #expect(journal.lines.filter { $0.hasPrefix("few") } == [1, 2, 3, 4, 5].map { "few \($0)" })
        #expect(journal.count("log") == 8)
        #expect(journal.saved.last == "count=8")
        #expect(report.exitCode == 0)
        #expect(journal.logged.contains("info few: enough"))
    }

    @Test func asAFlowItDoesTheSame() throws {
        try Simulation.run { simulation in
            let stage = ScriptedChunkStage(context: PluginBench(simulation).context()) { events, _ in
                if events.contains(where: { $0.id == "7" }) { throw StageFinished(last: events.prefix(1)) }
                if events.contains(where: { $0.id == "3" }) { return [] }
                return events
            }
            let numbers = try await stage.transform(.from(numbered(1...20), chunk: 2)).array().map(\.id.string)
            #expect(numbers == ["1", "2", "5", "6", "7"])
        }
    }
}
