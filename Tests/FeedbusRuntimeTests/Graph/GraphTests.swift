// feedbus: the running graph: back-pressure, retry, receipts, restarts and ends, under virtual time.

import FeedbusBase
import FeedbusFlow
import FeedbusPlugin
import FeedbusTestKit
import Testing

@testable import FeedbusRuntime

struct GraphTests {
    private struct Refused: Error, CustomStringConvertible {
        var description: String { "refused" }
    }

    // MARK: - Back-pressure

    @Test(arguments: [1, 16, 100]) func aBlockedSinkStopsItsSourceAfterTwiceItsBuffer(buffer: Int) throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
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
                    .sink("stuck", from: ["count"], events: buffer) { numbers, _ in
                        journal.note("write \(numbers.count)")
                        await gate.pass()
                    },
                ])
            return try await bench.run {
                try await simulation.clock.sleep(for: .seconds(60))
                // A full buffer is in the sink's hands, another waits; the next event holds the source.
                #expect(journal.count("emitted") == 2 * buffer)
                #expect(journal.count("write") == 1)
                gate.open()
            }
        }
        #expect(journal.count("emitted") == 1_000)
        #expect(report.exitCode == 0)
        #expect(report.nodes.last?.delivered == 1_000)
    }

    @Test func aChunkLargerThanTheRoomGoesInAsFarAsItFits() throws {
        let journal = Journal()
        _ = try Simulation.run { simulation in
            let gate = Gate()
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    .source("count") { output, _ in
                        try await output.emit(numbered(1...1))
                        try await output.emit(numbered(2...101))
                        journal.note("emitted")
                    },
                    .sink("free", from: ["count"]) { numbers, _ in
                        for number in numbers { journal.note("free \(number)") }
                    },
                    .sink("stuck", from: ["count"], events: 16) { numbers, _ in
                        await gate.pass()
                        for number in numbers { journal.note("stuck \(number)") }
                    },
                ])
            return try await bench.run {
                try await simulation.clock.sleep(for: .seconds(60))
                #expect(journal.count("emitted") == 0)
                #expect(journal.count("free") == 101)
                gate.open()
            }
        }
        #expect(journal.lines.filter { $0.hasPrefix("stuck") } == (1...101).map { "stuck \($0)" })
    }

    @Test func aSlowSinkWithDropOldestDoesNotStopTheOthersAndItsDropsAreNamed() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            let gate = Gate()
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    .source("count") { output, context in
                        try await output.emit(numbered([1]))
                        // The slow sink is writing event 1 when the others come.
                        try await context.clock.sleep(for: .milliseconds(1))
                        for number in 2...1_000 { try await output.emit(numbered([number])) }
                    },
                    .sink("free", from: ["count"]) { numbers, _ in
                        for number in numbers { journal.note("free \(number)") }
                    },
                    .sink("slow", from: ["count"], events: 16, whenFull: .dropOldest) { numbers, _ in
                        await gate.pass()
                        for number in numbers { journal.note("slow \(number)") }
                    },
                ])
            return try await bench.run {
                try await simulation.clock.sleep(for: .seconds(1))
                #expect(journal.count("free") == 1_000)
                gate.open()
            }
        }
        #expect(journal.lines.filter { $0.hasPrefix("free") } == (1...1_000).map { "free \($0)" })
        #expect(journal.lines.filter { $0.hasPrefix("slow") } == (["slow 1"] + (985...1_000).map { "slow \($0)" }))
        #expect(report.nodes.last?.dropped == 983)
        #expect(report.exitCode == 0)
        #expect(journal.logged.contains("warning slow: dropped 983 events in all (drop_oldest)"))
    }

    // MARK: - Retry

    @Test func aFailingSinkIsTriedAgainWithDoublingPausesOnTheLoopsClock() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    .source("count") { output, _ in
                        try await output.emit(numbered(1...3), saving: [CursorUpdate("cursor", "3")])
                    },
                    .sink("weak", from: ["count"], retry: RetryPolicy(attempts: 5, jitter: false)) { numbers, context in
                        journal.note("try at \(context.clock.now.nanoseconds / 1_000_000_000)")
                        if journal.count("try") < 4 { throw Refused() }
                        journal.note("wrote \(numbers)")
                    },
                ])
            return try await bench.run()
        }
        #expect(journal.lines == ["try at 0", "try at 1", "try at 3", "try at 7", "wrote [1, 2, 3]"])
        #expect(journal.saved == ["count=3"])
        #expect(report.exitCode == 0)
    }

    @Test func aSinkThatFailsForGoodLeavesItsEventsUndeliveredAndTheCursorWhereItWas() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    .source("count") { output, _ in
                        try await output.emit(numbered(1...3), saving: [CursorUpdate("cursor", "3")])
                        try await output.emit(numbered(4...5), saving: [CursorUpdate("cursor", "5")])
                    },
                    .sink("free", from: ["count"]) { numbers, _ in
                        for number in numbers { journal.note("free \(number)") }
                    },
                    .sink("broken", from: ["count"], retry: RetryPolicy(attempts: 2, jitter: false)) { _, _ in
                        throw Refused()
                    },
                ])
            return try await bench.run()
        }
        #expect(journal.count("free") == 5)
        #expect(journal.saved == [])
        #expect(report.nodes.last?.undelivered == 5)
        #expect(report.exitCode == 1)
        #expect(
            journal.logged.contains { $0.hasPrefix("error broken: given up: write failed: refused (tried 2 times)") })
    }

    @Test func aSourceThatFailsIsStartedAgainAndTheOthersNeverNotice() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal,
                nodes: [
                    .source("crash") { output, _ in
                        journal.note("start")
                        if journal.count("start") < 4 { throw Refused() }
                        try await output.emit(numbered([7]))
                    },
                    .source("tick") { output, context in
                        for number in 1...100 {
                            try await output.emit(numbered([number]))
                            try await context.clock.sleep(for: .seconds(1))
                        }
                    },
                    .sink("crashes", from: ["crash"]) { numbers, _ in journal.note("crash \(numbers)") },
                    .sink("ticks", from: ["tick"]) { numbers, _ in
                        for number in numbers { journal.note("tick \(number)") }
                    },
                ])
            return try await bench.run {
                try await simulation.clock.sleep(for: .seconds(200))
                await bench.graph.stop(because: "the test")
            }
        }
        #expect(journal.count("start") == 4)
        #expect(journal.count("crash [7]") == 1)
        #expect(journal.lines.filter { $0.hasPrefix("tick") } == (1...100).map { "tick \($0)" })
        #expect(report.exitCode == 0)
    }

    // MARK: - Receipts

    @Test func aCursorIsSavedWhenEverySinkHasTheEventsAndNotBefore() throws {
        let journal = Journal()
        _ = try Simulation.run { simulation in
            let gate = Gate()
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    .source("count") { output, _ in
                        try await output.emit(numbered(1...2), saving: [CursorUpdate("cursor", "2")])
                        try await output.emit(numbered(3...4), saving: [CursorUpdate("cursor", "4")])
                    },
                    .subject("shared", from: ["count"], replay: 50),
                    .stage("odd", from: ["shared"]) { $0.filter { Int($0.id.string)! % 2 == 1 } },
                    .sink("odds", from: ["odd"]) { numbers, _ in journal.note("odd \(numbers)") },
                    .sink("slow", from: ["shared"]) { _, _ in await gate.pass() },
                ])
            return try await bench.run {
                try await simulation.clock.sleep(for: .seconds(5))
                #expect(journal.saved == [])
                gate.open()
            }
        }
        // One task saves; a newer value of a key replaces an older one that still waits.
        #expect(journal.saved.last == "count=4")
    }

    @Test func whatAFailedStageHadTakenInIsNotAcknowledged() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    .source("count") { output, context in
                        try await output.emit(numbered(1...2), saving: [CursorUpdate("cursor", "2")])
                        try await context.clock.sleep(for: .seconds(1))
                        try await output.emit(numbered(3...4), saving: [CursorUpdate("cursor", "4")])
                    },
                    .stage("fragile", from: ["count"]) { input in
                        input.map { event in
                            if event.id == "3" { throw Refused() }
                            return event
                        }
                    },
                    .sink("log", from: ["fragile"]) { numbers, _ in journal.note("log \(numbers)") },
                ])
            return try await bench.run()
        }
        #expect(journal.saved == ["count=2"])
        #expect(report.exitCode == 1)
        #expect(report.nodes.first { $0.name == "fragile" }?.undelivered == 2)
        #expect(report.nodes.first { $0.name == "fragile" }?.failure != nil)
    }

    // MARK: - Ends

    @Test func whatASourceHasEmittedArrivesAfterTheStop() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal,
                nodes: [
                    .source("count") { output, _ in
                        try await output.emit(numbered(1...100), saving: [CursorUpdate("cursor", "100")])
                    },
                    .sink("slow", from: ["count"], events: 4) { numbers, context in
                        try await context.clock.sleep(for: .milliseconds(10))
                        for number in numbers { journal.note("slow \(number)") }
                    },
                ])
            return try await bench.run {
                try await simulation.clock.sleep(for: .milliseconds(25))
                await bench.graph.stop(because: "the test")
            }
        }
        #expect(journal.count("slow") == 100)
        #expect(journal.saved == ["count=100"])
        #expect(report.exitCode == 0)
    }

    @Test func whatIsLeftAtTheEndOfTheGraceIsCountedAndNamed() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal, grace: .seconds(2),
                nodes: [
                    .source("count") { output, _ in
                        try await output.emit(numbered(1...100), saving: [CursorUpdate("cursor", "100")])
                    },
                    .sink("deaf", from: ["count"], events: 16) { _, _ in
                        // Not by the clock of its context, which would end the wait at the stop.
                        try await simulation.clock.sleep(for: .seconds(3_600))
                    },
                ])
            return try await bench.run {
                try await simulation.clock.sleep(for: .seconds(5))
                await bench.graph.stop(because: "the test")
            }
        }
        #expect(report.nodes.last?.undelivered == 100)
        #expect(report.exitCode == 1)
        #expect(journal.saved == [])
        #expect(report.elapsed == .seconds(7))
    }

    @Test func aWaitThatTheGraceWouldCutOffEndsAtTheStop() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            let clock = simulation.clock
            let bench = GraphBench(
                simulation, journal, grace: .seconds(10),
                nodes: [
                    .source("count") { output, _ in
                        try await output.emit(numbered(1...3), saving: [CursorUpdate("cursor", "3")])
                    },
                    .sink("slow", from: ["count"], retry: RetryPolicy(attempts: 100, base: .seconds(60), jitter: false))
                    {
                        _, _ in throw Refused()
                    },
                    .sink("late", from: ["count"]) { numbers, context in
                        try await context.clock.sleep(for: .seconds(8))
                        journal.note("late \(numbers)")
                    },
                ])
            return try await bench.run {
                try await clock.sleep(for: .seconds(5))
                await bench.graph.stop(because: "the test")
            }
        }
        // The pause of a minute ends with the stop; the wait of 8 s, which ends within the grace, goes on.
        #expect(journal.lines == ["late [1, 2, 3]"])
        #expect(report.elapsed == .seconds(8))
        #expect(report.nodes.first { $0.name == "slow" }?.undelivered == 3)
        #expect(journal.saved == [])
        #expect(report.exitCode == 1)
    }

    @Test func aStageThatCompletesByItselfEndsItsBranchOnly() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    .source("count") { output, _ in
                        for number in 1...10 { try await output.emit(numbered([number])) }
                    },
                    .stage("three", from: ["count"]) { $0.take(3) },
                    .sink("few", from: ["three"]) { numbers, _ in
                        for number in numbers { journal.note("few \(number)") }
                    },
                    .sink("all", from: ["count"]) { numbers, _ in
                        for number in numbers { journal.note("all \(number)") }
                    },
                ])
            return try await bench.run()
        }
        #expect(journal.lines.filter { $0.hasPrefix("few") } == ["few 1", "few 2", "few 3"])
        #expect(journal.count("all") == 10)
        #expect(report.exitCode == 0)
    }

    @Test(arguments: 0..<50) func everySeedDeliversEverythingInOrder(seed: UInt64) throws {
        let journal = Journal()
        let report = try Simulation.run(seed: seed) { simulation in
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    .source("a") { output, context in
                        for start in stride(from: 0, to: 100, by: 7) {
                            try await output.emit(
                                numbered(start..<min(start + 7, 100)),
                                saving: [CursorUpdate("cursor", Bytes("\(start)"))])
                            try await context.clock.sleep(for: .milliseconds(start % 3))
                        }
                    },
                    .source("b") { output, _ in try await output.emit(numbered(100..<200)) },
                    .subject("shared", from: ["a", "b"], replay: 10),
                    .stage("even", from: ["shared"]) { $0.filter { Int($0.id.string)! % 2 == 0 } },
                    .sink("evens", from: ["even"], events: 3) { numbers, context in
                        try await context.clock.sleep(for: .milliseconds(1))
                        for number in numbers { journal.note("even \(number)") }
                    },
                    .sink("all", from: ["shared"], events: 5) { numbers, _ in
                        for number in numbers { journal.note("all \(number)") }
                    },
                ])
            return try await bench.run()
        }
        func numbers(_ sink: String, _ range: Range<Int>) -> [Int] {
            journal.lines.filter { $0.hasPrefix(sink + " ") }.map { Int($0.dropFirst(sink.count + 1))! }.filter(
                range.contains)
        }
        #expect(numbers("all", 0..<100) == Array(0..<100), "seed \(seed)")
        #expect(numbers("all", 100..<200) == Array(100..<200), "seed \(seed)")
        #expect(numbers("even", 0..<100) == Array(stride(from: 0, to: 100, by: 2)), "seed \(seed)")
        #expect(journal.saved.last == "a=98", "seed \(seed)")
        #expect(report.exitCode == 0)
    }
}
