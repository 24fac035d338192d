// feedbus: a state folder that several simulated runs share.

import FeedbusBase
import FeedbusPlugin
import FeedbusStore
import FeedbusTestKit
import Glibc
import Testing

@testable import FeedbusRuntime

/// A folder for the state of a test; deleted by `remove()`.
struct StateForTest: Sendable {
    let folder: String

    init() {
        var name = Array("/tmp/feedbus-graph-test-XXXXXX".utf8CString)
        folder = name.withUnsafeMutableBufferPointer { String(cString: mkdtemp($0.baseAddress!)) }
    }

    func remove() {
        for file in ["feedbus.sqlite", "feedbus.sqlite-wal", "feedbus.sqlite-shm", "lock"] {
            unlink("\(folder)/\(file)")
        }
        rmdir(folder)
    }

    /// One run of a graph on this state, as a process would have it.
    func run(
        _ journal: Journal, once: Bool = true, seed: UInt64? = nil, grace: Duration = .seconds(10),
        deadLetters: DeadLetterCap = DeadLetterCap(), nodes: [PlannedNode],
        meanwhile: @escaping @Sendable (Simulation, Graph) async throws -> Void = { _, _ in }
    ) throws -> GraphReport {
        try Simulation.run(seed: seed) { simulation in
            let store = try await StateStore.open(folder: folder, on: SimulatedHost(simulation.loop))
            let bench = GraphBench(
                simulation, journal, once: once, grace: grace, store: store, deadLetters: deadLetters, nodes: nodes)
            let report = try await bench.run { try await meanwhile(simulation, bench.graph) }
            await store.close()
            return report
        }
    }

    /// What the store has after the runs.
    func read<Result: Sendable>(_ body: @escaping @Sendable (StateStore) async throws -> Result) throws -> Result {
        try Simulation.run { simulation in
            let store = try await StateStore.open(folder: folder, on: SimulatedHost(simulation.loop))
            let result = try await body(store)
            await store.close()
            return result
        }
    }

    /// What the commands see of the log of a durable subject.
    func subject(_ name: String) throws -> StateSummary.Subject {
        let found = try StateFile.open(folder: folder)?.summary().subjects.first { $0.name == name }
        return try #require(found)
    }

    /// `node: reason: id` of every dead letter.
    func letters() throws -> [String] {
        try read { store in
            try await store.deadLetters(most: 10_000).map { letter in
                switch letter.body {
                case .event(let event): "\(letter.node): \(letter.reason): \(event.id.string)"
                case .raw(let text): "\(letter.node): \(letter.reason): raw \(text.string)"
                }
            }
        }
    }
}

extension StateSummary.Subject {
    func toCome(_ reader: String) -> Int { readers.first { $0.name == reader }.map { toCome($0.acked) } ?? -1 }
}

extension Journal {
    /// What was noted of one sink by `note("NAME NUMBER")`.
    func numbers(_ name: String) -> [Int] {
        lines.compactMap { $0.hasPrefix("\(name) ") ? Int($0.dropFirst(name.count + 1)) : nil }
    }
}

extension PlannedNode {
    /// A sink that notes each number.
    static func noting(
        _ name: String, from: [String], events: Int = 1_024, in journal: Journal,
        before: @escaping @Sendable ([Int], PluginContext) async throws -> Void = { _, _ in }
    ) -> PlannedNode {
        .sink(name, from: from, events: events, retry: RetryPolicy(attempts: 1, jitter: false)) { numbers, context in
            try await before(numbers, context)
            for number in numbers { journal.note("\(name) \(number)") }
        }
    }

    /// A source that emits numbers, `size` at a time, each with its cursor.
    static func counting(
        _ numbers: ClosedRange<Int>, as name: String = "count", by size: Int = 1, pause: Duration? = nil
    ) -> PlannedNode {
        .source(name) { output, context in
            for start in stride(from: numbers.lowerBound, through: numbers.upperBound, by: size) {
                let part = numbered(start...min(start + size - 1, numbers.upperBound))
                try await output.emit(part, saving: [CursorUpdate("cursor", part.last!.id)])
                if let pause { try await context.clock.sleep(for: pause) }
            }
        }
    }

    /// A source that has nothing to give.
    static func silent(_ name: String = "count") -> PlannedNode { .source(name) { _, _ in } }
}
