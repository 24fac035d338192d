// feedbus: the plugins that Docs/WritingAPlugin.md shows, tested as an author would test them.

import FeedbusPlugin
import FeedbusTestKit
import Testing

@testable import ExamplePlugins

struct StatusPageTests {
    private let page = "https://www.githubstatus.com/api/v2/incidents.json"

    private func incidents(_ list: String...) -> String { "{\"incidents\": [\(list.joined(separator: ", "))]}" }

    private func incident(_ id: String, at minute: Int, status: String = "resolved") -> String {
        "{\"id\": \"\(id)\", \"name\": \"Slow pushes\", \"status\": \"\(status)\","
            + " \"updated_at\": \"2026-03-01T10:\(minute):00Z\"}"
    }

    private func poll(_ bench: PluginBench) async throws {
        let source = StatusPage(options: StatusPageOptions(), context: bench.context(mode: RunMode(once: true)))
        try await source.run(bench.output)
    }

    @Test func eachIncidentComesOnceAndAgainWhenItHasChanged() throws {
        try Simulation.run { simulation in
            let bench = PluginBench(simulation)
            bench.answer(page, incidents(incident("b", at: 30, status: "investigating"), incident("a", at: 20)))
            try await poll(bench)
            #expect(bench.events.map(\.id.string) == ["a@2026-03-01T10:20:00Z", "b@2026-03-01T10:30:00Z"])
            #expect(bench.events.last.flatMap { StatusPage.headline(of: $0) } == "Slow pushes: investigating")

            // A second run of the program: the cursor says what is known.
            bench.forget()
            bench.answer(page, incidents(incident("b", at: 40), incident("a", at: 20)))
            try await poll(bench)
            #expect(bench.events.map(\.id.string) == ["b@2026-03-01T10:40:00Z"])
        }
    }

    @Test func nothingNewCostsOneConditionalRequest() throws {
        try Simulation.run { simulation in
            let bench = PluginBench(simulation)
            bench.answer(page, incidents(incident("a", at: 20)), headers: ["ETag": "\"1\""])
            try await poll(bench)
            bench.forget()
            try await poll(bench)
            #expect(bench.requests.map { $0.headers["If-None-Match"] } == ["\"1\""])
            #expect(bench.events.isEmpty)
        }
    }

    @Test func anAnswerOfAnotherShapeIsAnError() throws {
        try Simulation.run { simulation in
            let bench = PluginBench(simulation)
            bench.answer(page, "{\"incidents\": null}")
            await #expect(throws: FeedbusError.self) { try await poll(bench) }
        }
    }

    @Test func optionsAreChecked() throws {
        #expect(try StatusPageOptions.decoded(from: "{\"every\": \"5m\"}").every == .seconds(300))
        #expect(throws: FeedbusError.self) { try StatusPageOptions.decoded(from: "{\"every\": \"5\"}") }
    }
}

struct RedactTests {
    private func redacted(_ data: Bytes, _ bench: PluginBench) async throws -> [String] {
        let options = try RedactOptions.decoded(from: "{\"pointers\": [\"/actor/login\", \"/missing\"]}")
        let origin = EventOrigin(source: "test:source", type: "org.example.test", node: "src")
        let stage = Redact(options: options, context: bench.context())
        return try await stage.transform(.just(Event(origin: origin, id: "1", data: data))).array().map(\.data.string)
    }

    @Test func theRestOfTheTextStays() throws {
        try Simulation.run { simulation in
            let out = try await redacted(
                "{\"n\":1.50,\"actor\":{\"login\":\"octocat\",\"id\":1}}", PluginBench(simulation))
            #expect(out == ["{\"n\":1.50,\"actor\":{\"login\":null,\"id\":1}}"])
        }
    }
}

struct WebhookTests {
    private let url = "https://example.org/hook"

    private func write(_ bench: PluginBench) async throws {
        let options = try WebhookOptions.decoded(from: "{\"url\": \"\(url)\"}")
        let origin = EventOrigin(source: "test:source", type: "org.example.test", node: "src")
        let events = Chunk((1...2).map { Event(origin: origin, id: Bytes("\($0)"), data: Bytes("{\"n\":\($0)}")) })
        try await Webhook(options: options, context: bench.context()).write(events)
    }

    @Test func aBatchIsOneArray() throws {
        try Simulation.run { simulation in
            let bench = PluginBench(simulation)
            bench.answer(url, "", status: 204)
            try await write(bench)
            let body = try JSON.parse(try #require(bench.requests.first?.body))
            #expect(body.elements.compactMap { $0["data"]?["n"]?.int } == [1, 2])
        }
    }

    @Test(arguments: [(503, true), (404, false)]) func aRefusalIsThrown(status: Int, isRetriable: Bool) throws {
        try Simulation.run { simulation in
            let bench = PluginBench(simulation)
            bench.answer(url, "", status: status)
            let error = await #expect(throws: FeedbusError.self) { try await write(bench) }
            #expect(error?.isRetriable == isRetriable)
        }
    }
}
