// feedbus: dead letters in the graph: what goes there, and what that settles.

import FeedbusBase
import FeedbusFlow
import FeedbusPlugin
import FeedbusStore
import FeedbusTestKit
import Testing

@testable import FeedbusRuntime

struct GraphDeadLetterTests {
    private struct Broken: Error, CustomStringConvertible {
        var description: String { "broken" }
    }

    private func withState(_ body: (StateForTest) throws -> Void) throws {
        let state = StateForTest()
        defer { state.remove() }
        try body(state)
    }

    @Test func whatASinkFailsOnAndAllThatComesAfterGoesThereAndTheCursorMoves() throws {
        try withState { state in
            let journal = Journal()
            let report = try state.run(
                journal,
                nodes: [
                    .counting(1...10, pause: .seconds(1)), .noting("good", from: ["count"], in: journal),
                    .noting(
                        "bad", from: ["count"], in: journal,
                        before: { numbers, _ in if numbers.contains(4) { throw Broken() } }),
                ])
            #expect(report.exitCode == 1)
            #expect(report.nodes.last?.undelivered == 0)
            #expect(report.nodes.last?.deadLettered == 7)
            #expect(journal.saved.last == "count=10")
            #expect(journal.numbers("good") == Array(1...10))
            #expect(try state.letters() == (4...10).map { "bad: write failed: broken: \($0)" })
            #expect(
                journal.logged.contains(
                    "warning bad: 7 events set aside as dead letters in all; \"feedbus replay --dead-letters --node bad\""
                        + " sends them again"))
        }
    }

    @Test func aStageLosesWhatItFailsOnAndGoesOnWithTheRest() throws {
        try withState { state in
            let journal = Journal()
            let report = try state.run(
                journal, once: false,
                nodes: [
                    .counting(1...10, pause: .seconds(10)),
                    .stage("fragile", from: ["count"]) { input in
                        input.map { event in
                            if event.id == "3" || event.id == "7" { throw Broken() }
                            return event
                        }
                    },
                    .noting("log", from: ["fragile"], in: journal),
                ]
            ) { simulation, graph in
                try await simulation.clock.sleep(for: .seconds(300))
                await graph.stop(because: "the test")
            }
            #expect(report.exitCode == 0)
            #expect(journal.numbers("log") == [1, 2, 4, 5, 6, 8, 9, 10])
            #expect(journal.saved.last == "count=10")
            #expect(try state.letters() == ["fragile: broken: 3", "fragile: broken: 7"])
        }
    }

    @Test func aStageThatIsGivenUpSetsAsideWhatStillComes() throws {
        try withState { state in
            let journal = Journal()
            let report = try state.run(
                journal,
                nodes: [
                    .counting(1...5, pause: .seconds(1)),
                    .stage("fragile", from: ["count"]) { input in
                        input.map { event in
                            if event.id == "2" { throw Broken() }
                            return event
                        }
                    },
                    .noting("log", from: ["fragile"], in: journal), .noting("all", from: ["count"], in: journal),
                ])
            #expect(report.exitCode == 1)
            #expect(report.nodes.first { $0.name == "fragile" }?.undelivered == 0)
            #expect(journal.numbers("log") == [1])
            #expect(journal.saved.last == "count=5")
            #expect(try state.letters() == (2...5).map { "fragile: broken: \($0)" })
        }
    }

    @Test func aRefusedEventIsInTheStoreBeforeItsCursorIsSaved() throws {
        try withState { state in
            let journal = Journal()
            let report = try state.run(
                journal,
                nodes: [
                    .counting(1...4, by: 2),
                    PlannedNode(
                        name: "picky", plugin: "Picky", role: .stage { PickyStage(context: $0) }, from: ["count"]),
                    .noting("log", from: ["picky"], in: journal),
                ])
            #expect(report.exitCode == 0)
            #expect(journal.numbers("log") == [1, 3])
            #expect(journal.saved.last == "count=4")
            #expect(try state.letters() == ["picky: even: 2", "picky: even: 4"])
            #expect(report.nodes.first { $0.name == "picky" }?.refused == 2)
        }
    }

    @Test func aTextThatIsNoEventIsKeptAsItIs() throws {
        try withState { state in
            let journal = Journal()
            let report = try state.run(
                journal,
                nodes: [
                    .source("count") { output, context in
                        context.setAside("{\"half", reason: "no JSON")
                        try await output.emit(numbered([1]))
                    },
                    .noting("log", from: ["count"], in: journal),
                ])
            #expect(report.exitCode == 0)
            #expect(journal.numbers("log") == [1])
            #expect(try state.letters() == ["count: no JSON: raw {\"half"])
            #expect(report.nodes.first?.deadLettered == 1 && report.nodes.first?.dropped == 0)
            // It cannot be sent again: nobody is told to.
            let said = journal.logged.filter { $0.contains("dead letters in all") }
            #expect(said.count == 1)
            #expect(said.first?.contains("1 text that is no event set aside") == true, "\(said)")
            #expect(said.first?.contains("replay") == false)
        }
    }

    @Test func aTextThatIsNoEventIsCountedAsDroppedWhereNothingIsKept() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            try await GraphBench(
                simulation, journal, once: true,
                nodes: [
                    .source("count") { output, context in
                        context.setAside("{\"half", reason: "no JSON")
                        try await output.emit(numbered([1]))
                    },
                    .noting("log", from: ["count"], in: journal),
                ]
            ).run()
        }
        #expect(report.exitCode == 0)
        #expect(report.nodes.first?.deadLettered == 0 && report.nodes.first?.dropped == 1)
    }

    @Test func theSumTellsTextsFromEvents() throws {
        try withState { state in
            let journal = Journal()
            _ = try state.run(
                journal,
                nodes: [
                    .source("count") { output, context in
                        for text in ["a", "b"] as [Bytes] { context.setAside(text, reason: "no JSON") }
                        try await output.emit(numbered([1, 2]))
                    },
                    PlannedNode(
                        name: "picky", plugin: "Picky", role: .stage { PickyStage(context: $0) }, from: ["count"]),
                    .noting("log", from: ["picky"], in: journal),
                ])
            let said = journal.logged.filter { $0.contains("dead letters in all") }
            #expect(said.count == 2)
            #expect(said.contains { $0.contains("count") && $0.contains("2 texts that are no events") }, "\(said)")
            #expect(said.contains { $0.contains("1 event set aside") && $0.contains("--node picky\"") }, "\(said)")
        }
    }

    @Test func whatAFullStoreDoesNotTakeIsLeftUndeliveredAndHoldsTheCursor() throws {
        try withState { state in
            let journal = Journal()
            var cap = DeadLetterCap()
            cap.events = 2
            let report = try state.run(
                journal, deadLetters: cap,
                nodes: [
                    .counting(1...6, pause: .seconds(1)),
                    .noting("good", from: ["count"], in: journal),
                    .noting("bad", from: ["count"], in: journal, before: { _, _ in throw Broken() }),
                ])
            #expect(report.exitCode == 1)
            #expect(report.nodes.last?.undelivered == 4)
            #expect(journal.saved.last == "count=2")
            #expect(try state.letters().count == 2)
            #expect(journal.logged.contains { $0.contains("the store of dead letters does not take 1 event") })
        }
    }

    @Test func whatIsDroppedFromAFullStoreIsCountedAndSaid() throws {
        try withState { state in
            let journal = Journal()
            var cap = DeadLetterCap()
            cap.events = 2
            cap.whenFull = .dropOldest
            _ = try state.run(
                journal, deadLetters: cap,
                nodes: [
                    .counting(1...6, pause: .seconds(1)),
                    .noting("good", from: ["count"], in: journal),
                    .noting("bad", from: ["count"], in: journal, before: { _, _ in throw Broken() }),
                ])
            #expect(journal.saved.last == "count=6")
            #expect(try state.letters() == ["bad: write failed: broken: 5", "bad: write failed: broken: 6"])
            #expect(journal.logged.contains("error bad: dropped 4 dead letters in all (drop_oldest)"))
        }
    }

    @Test(arguments: [DeadLetterCap.WhenFull.dropOldest, .dropNewest])
    func whatAFullStoreDroppedIsNoDeadLetterInTheSummary(policy: DeadLetterCap.WhenFull) throws {
        try withState { state in
            var cap = DeadLetterCap()
            cap.events = 50
            cap.whenFull = policy
            // Once on an empty store, once on one that is full.
            for turn in 1...2 {
                let journal = Journal()
                let report = try state.run(
                    journal, deadLetters: cap,
                    nodes: [
                        .counting(1...1_000, by: 100), .noting("good", from: ["count"], in: journal),
                        .noting("bad", from: ["count"], in: journal, before: { _, _ in throw Broken() }),
                    ])
                let keepsOwn = turn == 1 || policy == .dropOldest
                let bad = report.node("bad")
                #expect(bad.deadLettered == (keepsOwn ? 50 : 0))
                // The second run's letters push out fifty of the first.
                #expect(bad.lettersDropped == (turn == 2 ? 1_000 : 950))
                #expect(bad.dropped == 0 && bad.undelivered == 0)
                #expect(try state.letters().count == 50)
                let told = journal.logged.filter { $0.contains("dead letters in all; ") }
                #expect(told.count == (keepsOwn ? 1 : 0))
                #expect(told.allSatisfy { $0.contains("50 events set aside") })
                let summary = report.summary
                #expect(
                    summary.hasSuffix(
                        "dead letters \(keepsOwn ? 50 : 0), undelivered 0, dropped \(turn == 2 ? 1_000 : 950)"),
                    "\(summary)")
            }
        }
    }

    @Test func aNodeWhoseLettersAnotherPushesOutHasThemNoMore() throws {
        try withState { state in
            let journal = Journal()
            var cap = DeadLetterCap()
            cap.events = 3
            cap.whenFull = .dropOldest
            let report = try state.run(
                journal, deadLetters: cap,
                nodes: [
                    .source("count") { output, context in
                        for text in ["a", "b"] as [Bytes] { context.setAside(text, reason: "no JSON") }
                        try await context.clock.sleep(for: .seconds(1))
                        try await output.emit(numbered([1, 2]))
                    },
                    .noting("good", from: ["count"], in: journal),
                    .noting("bad", from: ["count"], in: journal, before: { _, _ in throw Broken() }),
                ])
            #expect(report.node("count").deadLettered == 1 && report.node("count").lettersDropped == 1)
            #expect(report.node("bad").deadLettered == 2 && report.node("bad").lettersDropped == 0)
            #expect(journal.logged.contains { $0.contains("count: 1 text that is no event set aside") })
            #expect(journal.logged.contains("error count: dropped 1 dead letter in all (drop_oldest)"))
        }
    }

    @Test func whatIsUnderWayAtTheStopIsNoDeadLetter() throws {
        try withState { state in
            let journal = Journal()
            let report = try state.run(
                journal, once: false, grace: .seconds(1),
                nodes: [
                    .counting(1...3),
                    .noting(
                        "slow", from: ["count"], in: journal,
                        before: { _, context in try await context.clock.sleep(for: .seconds(60)) }),
                ]
            ) { simulation, graph in
                try await simulation.clock.sleep(for: .seconds(2))
                await graph.stop(because: "the test")
            }
            #expect(report.exitCode == 1)
            #expect(report.nodes.last?.undelivered == 3)
            #expect(journal.saved == [])
            #expect(try state.letters() == [])
        }
    }
}

/// Refuses even numbers.
private actor PickyStage: ChunkStage {
    typealias Options = ScriptedSource.Options
    static let name = "Picky"
    static let summary = "refuses even numbers"
    nonisolated let context: PluginContext

    init(options: Options, context: PluginContext) { self.context = context }
    init(context: PluginContext) { self.context = context }

    func process(_ events: Chunk<Event>) async throws -> Chunk<Event> {
        Chunk(
            events.filter { event in
                let isOdd = Int(event.id.string)! % 2 == 1
                if !isOdd { context.refuse(event, reason: "even") }
                return isOdd
            })
    }
}
