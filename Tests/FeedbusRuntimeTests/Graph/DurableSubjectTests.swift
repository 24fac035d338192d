// feedbus: durable subjects in the graph: who owes what to whom, also over several runs.

import FeedbusBase
import FeedbusFlow
import FeedbusPlugin
import FeedbusStore
import FeedbusTestKit
import Testing

@testable import FeedbusRuntime

struct DurableSubjectTests {
    private struct Broken: Error, CustomStringConvertible {
        var description: String { "broken" }
    }

    /// Runs `body` on a state of its own.
    private func withState(_ body: (StateForTest) throws -> Void) throws {
        let state = StateForTest()
        defer { state.remove() }
        try body(state)
    }

    @Test(arguments: [nil, 1, 2, 3] as [UInt64?])
    func theSourceIsDoneWhenTheLogHasItsEventsAndASlowReaderGetsThemAll(seed: UInt64?) throws {
        try withState { state in
            let journal = Journal()
            let gate = Gate()
            let report = try state.run(
                journal, seed: seed,
                nodes: [
                    .counting(1...5_000, by: 7), .durable("shared", from: ["count"]),
                    .noting("fast", from: ["shared"], in: journal),
                    .noting("slow", from: ["shared"], events: 10, in: journal, before: { _, _ in await gate.pass() }),
                ]
            ) { simulation, _ in
                try await simulation.clock.sleep(for: .seconds(5))
                #expect(journal.saved.last == "count=5000")
                #expect(journal.numbers("fast") == Array(1...5_000))
                #expect(journal.numbers("slow") == [])
                gate.open()
            }
            #expect(report.exitCode == 0)
            #expect(journal.numbers("slow") == Array(1...5_000))
            #expect(journal.numbers("fast").count == 5_000)
        }
    }

    @Test func aNewReaderGetsTheLastFewAndThenTheLiveOnes() throws {
        try withState { state in
            let journal = Journal()
            func run(_ source: PlannedNode, _ readers: [String]) throws {
                let report = try state.run(
                    journal,
                    nodes: [source, .durable("shared", from: ["count"], replay: 5)]
                        + readers.map { .noting($0, from: ["shared"], in: journal) })
                #expect(report.exitCode == 0)
            }
            try run(.counting(1...12, by: 5), ["log"])
            try run(.silent(), ["log", "late"])
            #expect(journal.numbers("late") == Array(8...12))
            try run(.counting(13...14), ["log", "late"])
            #expect(journal.numbers("log") == Array(1...14))
            #expect(journal.numbers("late") == Array(8...14))
        }
    }

    @Test func aReaderThatResumesWithTheReplayGetsItAtEachStartAndMissesNothing() throws {
        try withState { state in
            func run(_ numbers: ClosedRange<Int>?, stopAfter: Duration? = nil) throws -> [Int] {
                let journal = Journal()
                var screen = PlannedNode.noting(
                    "screen", from: ["shared"], events: 2, in: journal,
                    before: { _, context in
                        if stopAfter != nil { try await context.clock.sleep(for: .seconds(1)) }
                    })
                screen.resume = .replay
                _ = try state.run(
                    journal, once: stopAfter == nil,
                    nodes: [
                        numbers.map { .counting($0, by: 100) } ?? .silent(),
                        .durable("shared", from: ["count"], replay: 3), screen,
                    ]
                ) { simulation, graph in
                    guard let stopAfter else { return }
                    try await simulation.clock.sleep(for: stopAfter)
                    await graph.stop(because: "the test")
                }
                return journal.numbers("screen")
            }
            #expect(try run(1...5) == Array(1...5))
            #expect(try run(nil) == [3, 4, 5])
            #expect(try run(6...6) == [3, 4, 5, 6])
            // Stopped in the middle: it begins where it was, which is further back than the replay.
            let some = try run(7...4_000, stopAfter: .seconds(20))
            #expect(some.starts(with: 4...6) && some.count < 3_000)
            let rest = try run(nil)
            let first = try #require(rest.first)
            #expect(rest == Array(first...4_000) && first <= some.last! + 1)
        }
    }

    @Test func whatIsKeptIsThereBeforeTheSourceHasAnything() throws {
        try withState { state in
            let journal = Journal()
            _ = try state.run(
                journal,
                nodes: [
                    .counting(1...3), .durable("shared", from: ["count"], replay: 2),
                    .noting("log", from: ["shared"], in: journal),
                ])
            _ = try state.run(
                journal,
                nodes: [
                    .source("count") { output, context in
                        try await context.clock.sleep(for: .seconds(60))
                        #expect(journal.numbers("late") == [2, 3])
                        try await output.emit(numbered([4]))
                    },
                    .durable("shared", from: ["count"], replay: 2), .noting("late", from: ["shared"], in: journal),
                ])
            #expect(journal.numbers("late") == [2, 3, 4])
        }
    }

    @Test(arguments: [nil, 4, 5, 6] as [UInt64?])
    func atTheStopTheRestOfASlowReaderStaysInTheLogAndComesNextTime(seed: UInt64?) throws {
        try withState { state in
            let journal = Journal()
            func run(pause: Duration?, source: PlannedNode, stopAfter: Duration?) throws -> GraphReport {
                try state.run(
                    journal, once: stopAfter == nil, seed: seed,
                    nodes: [
                        source, .durable("shared", from: ["count"]),
                        .noting(
                            "slow", from: ["shared"], events: 10, in: journal,
                            before: { _, context in if let pause { try await context.clock.sleep(for: pause) } }),
                    ]
                ) { simulation, graph in
                    guard let stopAfter else { return }
                    try await simulation.clock.sleep(for: stopAfter)
                    await graph.stop(because: "the test")
                }
            }
            let first = try run(pause: .seconds(1), source: .counting(1...20_000, by: 100), stopAfter: .seconds(20))
            #expect(first.exitCode == 0)
            #expect(first.elapsed < .seconds(31))
            let had = journal.numbers("slow").count
            #expect(had >= 150 && had < 20_000)
            // Also what it had in its buffer and in hand, and no more than that.
            #expect(first.node("slow").kept == 20_000 - had)
            #expect(
                journal.logged.contains(
                    "info shared: slow has \(20_000 - had) events to come, kept in the log until the next start"))
            #expect(try state.subject("shared").toCome("slow") == 20_000 - had)
            let second = try run(pause: nil, source: .silent(), stopAfter: nil)
            #expect(second.exitCode == 0)
            #expect(second.node("slow").kept == 0)
            #expect(journal.numbers("slow") == Array(1...20_000))
        }
    }

    @Test func aSinkThatFailsForGoodLosesItsChunkToTheDeadLettersAndTheRestWaitsInTheLog() throws {
        try withState { state in
            let journal = Journal()
            func nodes(_ source: PlannedNode, isBroken: Bool) -> [PlannedNode] {
                [
                    source, .durable("shared", from: ["count"]), .noting("good", from: ["shared"], in: journal),
                    .noting(
                        "bad", from: ["shared"], events: 4, in: journal,
                        before: { numbers, _ in if isBroken && numbers.contains(5) { throw Broken() } }),
                ]
            }
            let first = try state.run(journal, nodes: nodes(.counting(1...50), isBroken: true))
            #expect(first.exitCode == 1)
            #expect(first.nodes.first { $0.name == "bad" }?.undelivered == 0)
            #expect(journal.saved.last == "count=50")
            let letters = try state.letters()
            #expect(letters.contains("bad: write failed: broken: 5"))
            // All that came after it is for the next start, and is said to be.
            let kept = 50 - letters.count - journal.numbers("bad").count
            #expect(first.nodes.map(\.kept).reduce(0, +) == kept && first.node("bad").kept == kept)
            #expect(
                journal.logged.contains(
                    "info shared: bad has \(kept) events to come, kept in the log until the next start"))
            let second = try state.run(journal, nodes: nodes(.silent(), isBroken: false))
            #expect(second.exitCode == 0)
            // Each event is either with the reader or with the dead letters, once, and in order.
            let dead = letters.map { Int($0.split(separator: " ").last!)! }
            #expect(journal.numbers("bad") == (1...50).filter { !dead.contains($0) })
            #expect(dead.count <= 4)
            #expect(journal.numbers("good") == Array(1...50))
        }
    }

    @Test func aReadersPlaceMovesWhenTheLastSinkBehindItHasTheEvent() throws {
        try withState { state in
            let journal = Journal()
            let report = try state.run(
                journal, once: false, grace: .seconds(1),
                nodes: [
                    .counting(1...4, pause: .seconds(1)), .durable("shared", from: ["count"]),
                    .stage("doubled", from: ["shared"]) { $0.map { $0 } },
                    .noting(
                        "log", from: ["doubled"], in: journal,
                        before: { numbers, context in
                            if numbers.contains(3) { try await context.clock.sleep(for: .seconds(3_600)) }
                        }),
                ]
            ) { simulation, graph in
                try await simulation.clock.sleep(for: .seconds(10))
                await graph.stop(because: "the test")
            }
            // What it had not written waits in the log: nothing is left undelivered.
            #expect(report.exitCode == 0)
            #expect(journal.numbers("log") == [1, 2])
            let again = Journal()
            _ = try state.run(
                again,
                nodes: [
                    .silent(), .durable("shared", from: ["count"]),
                    .stage("doubled", from: ["shared"]) { $0.map { $0 } },
                    .noting("log", from: ["doubled"], in: again),
                ])
            #expect(again.numbers("log") == [3, 4])
        }
    }

    @Test func subjectsOfBothKindsReadADurableOne() throws {
        try withState { state in
            let journal = Journal()
            let report = try state.run(
                journal,
                nodes: [
                    .counting(1...30, as: "a"), .counting(101...130, as: "b"), .durable("first", from: ["a", "b"]),
                    .durable("second", from: ["first"]), .subject("third", from: ["first"], replay: 3),
                    .noting("log", from: ["second", "third"], in: journal),
                ])
            #expect(report.exitCode == 0)
            let all = Array(1...30) + Array(101...130)
            #expect(journal.numbers("log").sorted() == (all + all).sorted())
        }
    }

    // MARK: - The limit

    @Test func atItsLimitTheSourcesWaitUntilTheSlowestReaderHasRoomAgain() throws {
        try withState { state in
            let journal = Journal()
            let gate = Gate()
            let report = try state.run(
                journal,
                nodes: [
                    .source("count") { output, _ in
                        for number in 1...3_000 {
                            try await output.emit(numbered([number]))
                            journal.note("emitted \(number)")
                        }
                    },
                    .durable("shared", from: ["count"]) { $0.limit = 2_000 },
                    .noting("slow", from: ["shared"], events: 10, in: journal, before: { _, _ in await gate.pass() }),
                ]
            ) { simulation, _ in
                try await simulation.clock.sleep(for: .seconds(10))
                #expect(journal.count("emitted") < 3_000)
                #expect(journal.logged.contains { $0.contains("has reached its limit") && $0.contains("sources wait") })
                gate.open()
            }
            #expect(report.exitCode == 0)
            #expect(journal.numbers("slow") == Array(1...3_000))
            #expect(journal.logged.contains { $0.contains("the log is written again") })
        }
    }

    @Test func atItsLimitADroppingLogCountsWhatAReaderMisses() throws {
        try withState { state in
            let journal = Journal()
            let gate = Gate()
            let report = try state.run(
                journal,
                nodes: [
                    .counting(1...5_000, pause: .milliseconds(1)),
                    .durable("shared", from: ["count"]) {
                        $0.limit = 5_000
                        $0.whenFull = .dropOldest
                    },
                    .noting("slow", from: ["shared"], events: 10, in: journal, before: { _, _ in await gate.pass() }),
                ]
            ) { simulation, _ in
                try await simulation.clock.sleep(for: .seconds(60))
                #expect(journal.saved.last == "count=5000")
                gate.open()
            }
            #expect(report.exitCode == 0)
            let had = journal.numbers("slow")
            #expect(had == had.sorted() && Set(had).count == had.count)
            #expect(had.last == 5_000)
            #expect(report.nodes.first { $0.name == "shared" }?.dropped == 5_000 - had.count)
            // Said at once, then every ten seconds, and not with each of the thousands of commits.
            #expect([1, 2].contains(journal.logged.count { $0.contains("slow missed") && $0.contains("drop_oldest") }))
        }
    }

    @Test(arguments: [nil, 7, 8] as [UInt64?])
    func whatAReaderHadInHandWhenTheLimitTookItIsCountedOnceAndTheLogIsNotLargerThanItsLimit(seed: UInt64?) throws {
        try withState { state in
            let journal = Journal()
            func run(_ source: PlannedNode, stops: Bool) throws -> GraphReport {
                try state.run(
                    journal, once: !stops, seed: seed, grace: .seconds(1),
                    nodes: [
                        // A thousand at a time are more than the log may have.
                        source,
                        .durable("shared", from: ["count"]) {
                            $0.limit = 5_000
                            $0.whenFull = .dropOldest
                        },
                        .noting(
                            "slow", from: ["shared"], in: journal,
                            before: { _, context in
                                if stops { try await context.clock.sleep(for: .seconds(3_600)) }
                            }),
                    ]
                ) { simulation, graph in
                    guard stops else { return }
                    try await simulation.clock.sleep(for: .seconds(60))
                    #expect(try state.subject("shared").bytes <= 5_000)
                    await graph.stop(because: "the test")
                }
            }
            let first = try run(.counting(1...5_000, by: 1_000), stops: true)
            #expect(first.exitCode == 0)
            #expect(journal.numbers("slow") == [])
            let kept = first.node("slow").kept
            #expect(kept > 0 && first.node("shared").dropped == 5_000 - kept)
            let log = try state.subject("shared")
            #expect(log.events == kept && log.toCome("slow") == kept)
            #expect(log.bytes <= 5_000)
            #expect(journal.logged.contains { $0.contains("that it had in hand and did not deliver") })
            #expect(journal.logged.contains("warning shared: its readers missed \(5_000 - kept) events in all"))
            // What it missed was said and counted: the next start has nothing to say of it.
            let saidBefore = journal.logged.count
            let second = try run(.silent(), stops: false)
            #expect(second.exitCode == 0)
            #expect(journal.numbers("slow") == Array(5_001 - kept...5_000))
            #expect(!journal.logged.dropFirst(saidBefore).contains { $0.contains("missed") })
            #expect(second.node("shared").dropped == 0)
        }
    }

    @Test func whatWasInHandWhenTheLimitTookItAndIsDeliveredAfterAllIsNoLoss() throws {
        try withState { state in
            let journal = Journal()
            let gate = Gate()
            let report = try state.run(
                journal,
                nodes: [
                    .counting(1...1_000, by: 10, pause: .milliseconds(1)),
                    .durable("shared", from: ["count"]) {
                        $0.limit = 1_000
                        $0.whenFull = .dropOldest
                    },
                    .noting("slow", from: ["shared"], in: journal, before: { _, _ in await gate.pass() }),
                ]
            ) { simulation, _ in
                try await simulation.clock.sleep(for: .seconds(60))
                gate.open()
            }
            #expect(report.exitCode == 0)
            // The buffer had room for all of them, and the log for a few.
            #expect(journal.numbers("slow") == Array(1...1_000))
            #expect(report.node("shared").dropped == 0 && report.node("slow").kept == 0)
        }
    }

    @Test func aReaderThatCameBackTooLateIsToldWhatItMissed() throws {
        try withState { state in
            let journal = Journal()
            func run(_ source: PlannedNode, _ readers: [String]) throws {
                _ = try state.run(
                    journal,
                    nodes: [source, .durable("shared", from: ["count"], replay: 2) { $0.events = 3 }]
                        + readers.map { .noting($0, from: ["shared"], in: journal) })
            }
            try run(.counting(1...4), ["one", "two"])
            try run(.counting(5...9, pause: .seconds(1)), ["one"])
            #expect(journal.logged.contains { $0.contains("two reads it no more") })
            try run(.silent(), ["one", "two"])
            #expect(journal.numbers("two") == Array(1...4) + Array(7...9))
            #expect(journal.logged.contains("warning shared: two missed 2 events: the log no longer has them"))
        }
    }
}
