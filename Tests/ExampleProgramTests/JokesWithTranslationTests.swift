// feedbus: the example program JokesWithTranslation, under virtual time.

import Feedbus
import FeedbusTestKit
import JokesWithTranslation
import Synchronization
import Testing

struct JokesWithTranslationTests {
    private let url = "https://api.chucknorris.io/jokes/random"

    /// Answers one after the other; the last one again and again. Nil: status 500.
    private func answer(_ bench: PluginBench, _ bodies: String?...) {
        let turn = Mutex(0)
        bench.answer(url) { [url] _ in
            let body = turn.withLock { turn in
                defer { turn = min(turn + 1, bodies.count - 1) }
                return bodies[turn]
            }
            return HTTPResponse(status: body == nil ? 500 : 200, body: Bytes(body ?? ""), url: url)
        }
    }

    private func joke(_ id: String, _ text: String, language: String? = nil) -> String {
        "{\"id\":\"\(id)\",\"value\":\"\(text)\"\(language.map { ",\"language\":\"\($0)\"" } ?? "")}"
    }

    /// What the program prints when it is stopped after `duration`.
    private func run(
        _ simulation: Simulation, _ bench: PluginBench, for duration: Duration, once: Bool = false,
        translate: @escaping JokesWithTranslation.Translate = { text, from, to in "\(text) (\(from) > \(to))" }
    ) async throws -> [String] {
        let program = JokesWithTranslation(bench.app(once: once), language: "es", translate: translate)
        let task = Task(executorPreference: simulation.loop) { try await program.run() }
        try await simulation.clock.sleep(for: duration)
        task.cancel()
        _ = await task.result
        return bench.lines
    }

    @Test func eachJokeOnceAndTranslatedWhereItMustBe() throws {
        try Simulation.run { simulation in
            let bench = PluginBench(simulation)
            answer(
                bench, joke("a", "one"), joke("b", "dos", language: "es-MX"), joke("a", "one"), joke("c", "three"))
            let lines = try await run(simulation, bench, for: .seconds(45))
            #expect(lines == ["[es] one (en > es)", "[es-MX] dos", "[es] three (en > es)"])
            // At 0, 10, 20, 30, 40.
            #expect(bench.requests.count == 5)
        }
    }

    @Test func oneFailureIsTriedAgainAtOnce() throws {
        try Simulation.run { simulation in
            let bench = PluginBench(simulation)
            answer(bench, nil, joke("a", "one"))
            let lines = try await run(simulation, bench, for: .seconds(5))
            #expect(lines == ["[es] one (en > es)"])
            #expect(bench.requests.count == 2)
        }
    }

    @Test func twoFailuresGiveOtherWordsAndTheNextTickGoesOn() throws {
        try Simulation.run { simulation in
            let bench = PluginBench(simulation)
            answer(bench, nil, "{}", joke("a", "one"))
            let lines = try await run(simulation, bench, for: .seconds(15))
            #expect(lines == ["[es] No joke today.", "[es] one (en > es)"])
            #expect(bench.requests.count == 3)
        }
    }

    @Test func whatCannotBeTranslatedIsToldAsItIs() throws {
        try Simulation.run { simulation in
            let bench = PluginBench(simulation)
            answer(bench, joke("a", "one"))
            let lines = try await run(simulation, bench, for: .seconds(5)) { _, _, _ in
                throw FeedbusError("apertium", "it does not know Spanish")
            }
            #expect(lines == ["[en] one"])
            #expect(bench.messages() == ["not translated: it does not know Spanish"])
        }
    }

    @Test func aTranslatorThatHangsIsGivenUp() throws {
        try Simulation.run { simulation in
            let bench = PluginBench(simulation)
            answer(bench, joke("a", "one"))
            let lines = try await run(simulation, bench, for: .seconds(11)) { text, _, _ in
                try await simulation.clock.sleep(for: .seconds(3_600))
                return text
            }
            #expect(lines == ["[en] one"])
        }
    }

    @Test func onceIsOneJoke() throws {
        try Simulation.run { simulation in
            let bench = PluginBench(simulation)
            answer(bench, joke("a", "one"))
            let lines = try await run(simulation, bench, for: .seconds(60), once: true)
            #expect(lines == ["[es] one (en > es)"])
            #expect(bench.requests.count == 1)
        }
    }
}
