// feedbus: sinks that come to an end of their own.

import FeedbusBase
import FeedbusFlow
import FeedbusPlugin
import FeedbusTestKit
import Testing

@testable import FeedbusRuntime

@Suite struct SinkEndTests {
    @Test func aSinkThatFinishesByItselfIsNoFault() throws {
        let journal = Journal()
        let report = try Simulation.run { simulation in
            let bench = GraphBench(
                simulation, journal, once: true,
                nodes: [
                    .source("count") { output, _ in
                        for number in 1...10 { try await output.emit(numbered([number])) }
                    },
                    .sink("head", from: ["count"]) { _, _ in throw SinkFinished("the reader has gone") },
                    .sink("all", from: ["count"]) { numbers, _ in
                        for number in numbers { journal.note("all \(number)") }
                    },
                ])
            return try await bench.run()
        }
        #expect(journal.count("all") == 10)
        #expect(report.exitCode == 0)
    }

    @Test func whatTheOnlySinkHasNotTakenIsNotAcknowledged() throws {
        for others in [false, true] {
            let journal = Journal()
            let report = try Simulation.run { simulation in
                let all = PlannedNode.sink("all", from: ["count"]) { _, _ in }
                let bench = GraphBench(
                    simulation, journal, once: true,
                    nodes: [
                        .source("count") { output, _ in
                            try await output.emit(numbered(1...10), saving: [CursorUpdate("cursor", "10")])
                        },
                        .sink("head", from: ["count"]) { _, _ in throw SinkFinished("the reader has gone") },
                    ] + (others ? [all] : []))
                return try await bench.run()
            }
            #expect(journal.saved == (others ? ["count=10"] : []))
            #expect(report.exitCode == 0)
        }
    }
}
