// feedbus: what a program that uses feedbus as a library stands on: App.

import Feedbus
import FeedbusTestKit
import Glibc
import Testing

struct AppTests {
    private let url = "https://example.org/feed"

    private func fetch(_ app: App) -> Flow<String> { app.fetch(HTTPRequest(url)) { $0.body.string } }

    private func poll(_ app: App) -> Flow<String> {
        app.poll(HTTPRequest(url), every: .seconds(10)) { $0.body.string }.compactMap { $0.value }
    }

    @Test func aFetchAsksAnewForEachCollection() throws {
        try Simulation.run { simulation in
            let bench = PluginBench(simulation)
            bench.answer(url, "a")
            let flow = fetch(bench.app())
            #expect(bench.requests.isEmpty)
            let answers = [try await flow.array(), try await flow.array()]
            #expect(answers == [["a"], ["a"]])
            #expect(bench.requests.count == 2)
        }
    }

    /// Whatever the client's own policy is: retrying is the flow's business.
    @Test func aFetchFailsAtOnce() throws {
        try Simulation.run { simulation in
            let bench = PluginBench(simulation)
            bench.answer(url, "", status: 500)
            let app = bench.app(retry: RetryPolicy(attempts: 9))
            await #expect(throws: FeedbusError.self) { try await fetch(app).array() }
            #expect(bench.requests.count == 1)
            let policy = RetryPolicy(attempts: 3, base: .seconds(1), jitter: false)
            await #expect(throws: FeedbusError.self) {
                try await fetch(app).retry(policy, clock: app.clock).array()
            }
            #expect(bench.requests.count == 4)
        }
    }

    @Test func aPollEmitsWhatIsNewOnly() throws {
        try Simulation.run { simulation in
            let bench = PluginBench(simulation)
            bench.answer(url, "a", headers: ["ETag": "\"1\""])
            let flow = poll(bench.app())
            async let answers = flow.take(2).array()
            try await simulation.clock.sleep(for: .seconds(35))
            let validators = bench.requests.map { $0.headers["If-None-Match"] }
            #expect(validators.first == .some(nil))
            #expect(validators.dropFirst().allSatisfy { $0 == "\"1\"" } && validators.count > 2)
            bench.answer(url, "b", headers: ["ETag": "\"2\""])
            let got = try await answers
            #expect(got == ["a", "b"])
        }
    }

    /// A poll that fails is logged; what the consumer throws is no failed poll.
    @Test func aPollGoesOnAfterAFailureAndEndsWithItsConsumer() throws {
        try Simulation.run { simulation in
            let bench = PluginBench(simulation)
            bench.answer(url, "", status: 500)
            let flow = poll(bench.app())
            async let first = flow.first()
            try await simulation.clock.sleep(for: .seconds(1))
            bench.answer(url, "a")
            let got = try await first
            #expect(got == "a")
            #expect(bench.messages(.error).count == 1)
            await #expect(throws: FeedbusError.self) {
                try await flow.collect { _ in throw FeedbusError("mine", "enough") }
            }
            #expect(bench.messages(.error).count == 1)
        }
    }

    @Test func onceIsOneAnswerOrItsError() throws {
        try Simulation.run { simulation in
            let bench = PluginBench(simulation)
            bench.answer(url, "a")
            let answers = try await poll(bench.app(once: true)).array()
            #expect(answers == ["a"])
            bench.answer(url, "", status: 500)
            await #expect(throws: FeedbusError.self) { try await poll(bench.app(once: true)).array() }
        }
    }

    @Test func theCommandLine() throws {
        let settings = try AppSettings(name: "x", commandLine: ["a", "--offline", "f.har", "--verbose", "b"])
        #expect(settings.recording == "f.har" && settings.once && settings.logLevel == .debug)
        #expect(settings.arguments == ["a", "b"])
        #expect(try AppSettings(name: "x", commandLine: ["--once"]).once)
        for wrong in [["--offline"], ["--offline", "--once"], ["--nonsense"]] {
            #expect(throws: FeedbusError.self) { try AppSettings(name: "x", commandLine: wrong) }
        }
    }

    // MARK: - On a real loop

    @Test func whatTheBodyThrowsComesOut() {
        #expect(throws: FeedbusError.self) {
            try App.run(AppSettings(name: "test")) { _ in throw FeedbusError("mine", "enough") }
        }
        #expect(throws: FeedbusError.self) { try App.run(AppSettings(name: "test", recording: "/nowhere")) { _ in } }
    }

    @Test func aSignalEndsItWell() throws {
        let recording = "\(packageFolder)/Recordings/demo.har"
        try App.run(AppSettings(name: "test", recording: recording)) { app in
            try await app.host.offload { _ = kill(getpid(), SIGTERM) }
            try await app.clock.sleep(for: .seconds(3_600))
        }
    }
}
