// feedbus: the plugins that Docs/WritingAPlugin.md shows, in a whole graph, in trouble.

import ExamplePlugins
import FeedbusPlugin
import FeedbusTestKit
import Testing

struct WholeGraphTests {
    private let config = """
        {
          "sources": { "github": { "plugin": "StatusPage", "with": { "every": "1m" } } },
          "stages": { "quiet": { "plugin": "Redact", "from": ["github"], "with": { "pointers": ["/name"] } } },
          "sinks": { "hook": { "plugin": "Webhook", "from": ["quiet"], "with": { "url": "https://example.org/hook" } } }
        }
        """

    /// A page with three incidents, and a hook that takes everything.
    private func simulation() throws -> GraphSimulation {
        var plugins = PluginRegistry()
        plugins.add(StatusPage.self)
        plugins.add(Redact.self)
        plugins.add(Webhook.self)
        var simulation = try GraphSimulation(
            config: config, plugins: plugins,
            services: .scripted { request in
                if request.method == "POST" { return HTTPResponse(status: 202, url: request.url) }
                let incidents = (1...3).map { number in
                    "{\"id\": \"\(number)\", \"name\": \"x\", \"status\": \"new\", \"updated_at\": \"2026-03-01T10:0\(number):00Z\"}"
                }
                return HTTPResponse(
                    status: 200, body: Bytes("{\"incidents\": [\(incidents.joined(separator: ", "))]}"),
                    url: request.url)
            })
        simulation.duration = .seconds(600)
        // The sink's own code runs too; without this line a probe stands in its place.
        simulation.realSinks = ["hook"]
        // Redact passes every event, in whatever order: so all of them must arrive, whatever happens.
        simulation.complete = ["hook"]
        return simulation
    }

    @Test func everyIncidentIsPostedOnce() throws {
        let result = try simulation().run(seed: 1)
        #expect(
            result.ids("hook") == ["3@2026-03-01T10:03:00Z", "2@2026-03-01T10:02:00Z", "1@2026-03-01T10:01:00Z"])
        #expect(result.requests.filter { $0.node == "github" }.count == 10)
        #expect(result.requests.filter { $0.node == "hook" }.map(\.answer) == ["202"])
        #expect(result.lives.map(\.exitCode) == [0])
    }

    /// Time-outs, resets, 503s, failing writes, a full disk, a stop and two power cuts: the kit checks that nothing is
    /// lost, doubled, out of order or acknowledged too early.
    @Test(arguments: [FaultPlan.slow, .rough, .wild]) func nothingIsLost(faults: FaultPlan) throws {
        try simulation().check(seeds: 10, faults: faults) { result in
            #expect(result.ids("hook").contains("3@2026-03-01T10:03:00Z"))
        }
    }
}
