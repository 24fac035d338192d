// feedbus: tests of sources that the graph calls when a poll is due.

import FeedbusBase
import FeedbusHTTP
import FeedbusPlugin
import FeedbusTestKit
import Synchronization
import Testing

@testable import FeedbusRuntime

/// A source whose polls the test gives.
private actor ScriptedPolls: PollingSource {
    struct Options: PluginOptions {
        static let options: [Option<Options>] = []
    }
    static let name = "ScriptedPolls"
    static let summary = "polls by a script"
    nonisolated let context: PluginContext
    nonisolated let every: Duration
    nonisolated let service: PollService
    private let script: @Sendable (_ poll: Int, Output, PluginContext) async throws -> PollResult?
    private var polls = 0

    init(options: Options, context: PluginContext) { fatalError("made with a script") }

    init(
        context: PluginContext, every: Duration, host: String,
        script: @escaping @Sendable (_ poll: Int, Output, PluginContext) async throws -> PollResult?
    ) {
        self.context = context
        self.every = every
        self.script = script
        service = PollService(HTTPRequest("http://\(host)/"))
    }

    func prepare() async throws { _ = try await script(0, Output { _, _ in }, context) }

    func poll(_ output: Output) async throws -> PollResult? {
        polls += 1
        return try await script(polls, output, context)
    }
}

extension PlannedNode {
    fileprivate static func polls(
        _ name: String, every: Duration = .seconds(60), host: String = "h",
        _ script: @escaping @Sendable (_ poll: Int, Output, PluginContext) async throws -> PollResult?
    ) -> PlannedNode {
        PlannedNode(
            name: name, plugin: "ScriptedPolls",
            role: .source { ScriptedPolls(context: $0, every: every, host: host, script: script) })
    }
}

@Suite struct PollingSourceTests {
    private func seconds(_ context: PluginContext) -> Double { Double(context.clock.now.nanoseconds) / 1e9 }

    @Test func pollsComeOnScheduleUntilTheSourceIsComplete() throws {
        try Simulation.run { simulation in
            let journal = Journal()
            let bench = GraphBench(
                simulation, journal,
                nodes: [
                    .polls("a") { poll, output, context in
                        journal.note("\(poll) at \(Int(seconds(context)))")
                        if poll == 0 { return PollResult() }
                        try await output.emit(numbered([poll]), saving: [CursorUpdate("c", Bytes("\(poll)"))])
                        return poll == 4 ? nil : PollResult(minimumWait: poll == 2 ? .seconds(200) : .zero)
                    },
                    .sink("s", from: ["a"]) { numbers, _ in journal.note("got \(numbers)") },
                ])
            let report = try await bench.run {
                try await simulation.clock.sleep(for: .seconds(1_000))
                await bench.graph.stop(because: "the test")
            }
            #expect(report.exitCode == 0 && journal.saved == ["a=1", "a=2", "a=3", "a=4"])
            #expect(journal.count("got") == 4)
            let starts = journal.lines.filter { $0.contains("at") }.map { Int($0.split(separator: " ")[2])! }
            // What is taken up is taken up just before the first poll.
            #expect(starts[0] == starts[1] && starts[1] <= 2)
            // To each of them up to a tenth of `every`.
            #expect((60...67).contains(starts[2] - starts[1]))
            #expect((200...207).contains(starts[3] - starts[2]))
            #expect((60...67).contains(starts[4] - starts[3]))
        }
    }

    @Test func aPollThatFailsIsReportedAndTheSlowIntervalFollows() throws {
        try Simulation.run { simulation in
            let journal = Journal()
            let bench = GraphBench(
                simulation, journal,
                nodes: [
                    .polls("a") { poll, _, context in
                        journal.note("\(Int(seconds(context)))")
                        if poll == 1 || poll == 2 { throw FeedbusError("x.y", "no luck", isRetriable: false) }
                        return PollResult()
                    },
                    .sink("s", from: ["a"]) { _, _ in },
                ])
            let report = try await bench.run {
                try await simulation.clock.sleep(for: .seconds(1_200))
                await bench.graph.stop(because: "the test")
            }
            let times = journal.lines.compactMap(Int.init)
            #expect(report.exitCode == 0)
            #expect((300...307).contains(times[2] - times[1]) && (600...607).contains(times[3] - times[2]))
            #expect((60...67).contains(times[4] - times[3]))
            #expect(bench.journal.logged.count { $0.hasPrefix("error a: poll failed: no luck") } == 2)
        }
    }

    @Test func withOnceAPollThatFailsFailsTheNode() throws {
        try Simulation.run { simulation in
            for fails in [false, true] {
                let bench = GraphBench(
                    simulation, Journal(), once: true,
                    nodes: [
                        .polls("a") { poll, _, _ in
                            if fails && poll == 1 { throw FeedbusError("x.y", "no luck", isRetriable: true) }
                            return PollResult()
                        },
                        .sink("s", from: ["a"]) { _, _ in },
                    ])
                let start = simulation.clock.now
                let report = try await bench.run()
                #expect(report.exitCode == (fails ? 1 : 0) && simulation.clock.now - start < .seconds(1))
            }
        }
    }

    @Test func whatFailsBeforeTheFirstPollIsStartedAgain() throws {
        try Simulation.run { simulation in
            let journal = Journal()
            let bench = GraphBench(
                simulation, journal,
                nodes: [
                    .polls("a") { poll, _, _ in
                        journal.note("\(poll)")
                        if poll == 0 && journal.lines.count < 3 {
                            throw FeedbusError("x.y", "not yet", isRetriable: true)
                        }
                        return poll == 2 ? nil : PollResult()
                    },
                    .sink("s", from: ["a"]) { _, _ in },
                ])
            let report = try await bench.run {
                try await simulation.clock.sleep(for: .seconds(400))
                await bench.graph.stop(because: "the test")
            }
            #expect(journal.lines == ["0", "0", "0", "1", "2"] && report.exitCode == 0)
        }
    }

    /// Whatever it does just then: a source that sleeps, waits for its turn or polls ends at once.
    @Test func theStopEndsSleepersAndPolls() throws {
        try Simulation.run { simulation in
            let journal = Journal()
            let most = PollTimetable.mostOfService
            let hanging = (1...most + 50).map { number in
                PlannedNode.polls("hang-\(number)", host: "slow") { poll, _, context in
                    guard poll > 0 else { return PollResult() }
                    journal.note("begins")
                    try await context.clock.sleep(for: .seconds(86_400))
                    return PollResult()
                }
            }
            let quick = PlannedNode.polls("quick", every: .seconds(10), host: "fast") { poll, _, _ in
                if poll > 0 { journal.note("quick") }
                return PollResult()
            }
            let nodes = hanging + [quick]
            let bench = GraphBench(
                simulation, journal, nodes: nodes + [.sink("s", from: nodes.map(\.name)) { _, _ in }])
            let report = try await bench.run {
                try await simulation.clock.sleep(for: .seconds(100))
                await bench.graph.stop(because: "the test")
            }
            // A service that hangs holds up its own sources, not those of another one.
            #expect(journal.count("begins") == most && journal.count("quick") >= 9)
            #expect(report.exitCode == 0 && simulation.clock.now == Instant(nanoseconds: 100_000_000_000))
        }
    }

    /// All due at one time: so many at once, every one in its turn, and memory is given back when the crowd has gone.
    @Test func aCrowdIsLetInOneAfterTheOther() throws {
        try Simulation.run { simulation in
            let now = Synchronization.Mutex((open: 0, most: 0, all: 0))
            let gone = Synchronization.Mutex(0)
            let timetable = PollTimetable(
                clock: simulation.clock, host: SimulatedHost(simulation.loop),
                crowdHasGone: { gone.withLock { $0 += 1 } })
            final class Caller: PollCaller {
                let service: PollService? = PollService(HTTPRequest("http://h/"))
                let called: @Sendable (PollService) -> Void
                init(_ called: @escaping @Sendable (PollService) -> Void) { self.called = called }
                func pollIsDue(_ service: PollService) { called(service) }
            }
            let host = SimulatedHost(simulation.loop)
            let callers = (0..<2_000).map { _ in
                Caller { service in
                    now.withLock {
                        $0.open += 1
                        $0.all += 1
                        $0.most = max($0.most, $0.open)
                    }
                    host.task {
                        try await simulation.clock.sleep(for: .milliseconds(10))
                        now.withLock { $0.open -= 1 }
                        timetable.ended(service)
                    }
                }
            }
            for (index, caller) in callers.enumerated() {
                timetable.add(caller, at: Instant(nanoseconds: Int64(2_000 - index) * 1_000))
            }
            try await simulation.clock.sleep(for: .seconds(1))
            let result = now.withLock { $0 }
            #expect(result.open == 0 && result.all == 2_000 && result.most == PollTimetable.mostOfService)
            #expect(gone.withLock { $0 } == 1 && simulation.clock.sleeperCount == 0)
        }
    }
}
