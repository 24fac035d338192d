// feedbus: which events take which route.

import FeedbusPlugin
import FeedbusTestKit
import SwitchPlugin
import Testing

struct SwitchTests {
    private static let origin = EventOrigin(source: "/test", type: "org.example.test", node: "test")

    private func events(_ data: [String]) -> Chunk<Event> {
        Chunk(data.enumerated().map { Event(origin: Self.origin, id: Bytes("\($0)"), data: Bytes($1)) })
    }

    /// The numbers of the events on each route; the last one took none.
    private func routed(_ with: String, _ data: [String]) throws -> [[String]] {
        let options = try SwitchOptions.decoded(from: with)
        return try Simulation.run { simulation in
            let stage = Switch(options: options, context: PluginBench(simulation).context())
            return try await stage.route(events(data)).map { $0.map(\.id.string) }
        }
    }

    private static let kinds = """
        "routes": { "push": { "pointer": "/type", "equals": "PushEvent" },
                    "code": { "pointer": "/type", "in": ["PushEvent", "PullRequestEvent"] },
                    "known": { "pointer": "/type", "exists": true } }
        """
    private static let data = [
        #"{"type":"PushEvent"}"#, #"{"type":"PullRequestEvent"}"#, #"{"type":"WatchEvent"}"#, #"{"other":1}"#,
        #"{"type":"Push\u0045vent"}"#,
    ]

    @Test func theFirstRouteThatHoldsIsTaken() throws {
        #expect(try routed("{ \(Self.kinds) }", Self.data) == [["0", "4"], ["1"], ["2"], ["3"]])
    }

    @Test func orAllThatHold() throws {
        #expect(
            try routed("{ \(Self.kinds), \"mode\": \"all\" }", Self.data)
                == [["0", "4"], ["0", "1", "4"], ["0", "1", "2", "4"], ["3"]])
    }

    @Test func theNamesStayInOrder() throws {
        let options = try SwitchOptions.decoded(from: "{ \(Self.kinds) }")
        #expect(Switch.routes(of: options) == ["push", "code", "known"])
    }

    @Test func aWholeChunkGoesOnAsItIs() throws {
        let options = try SwitchOptions.decoded(from: "{ \(Self.kinds) }")
        try Simulation.run { simulation in
            let stage = Switch(options: options, context: PluginBench(simulation).context())
            let chunk = events([Self.data[0], Self.data[0]])
            let parts = try await stage.route(chunk)
            #expect(parts.map(\.count) == [2, 0, 0, 0])
            func place(_ chunk: Chunk<Event>) -> Int? {
                chunk.withContiguousStorageIfAvailable { Int(bitPattern: $0.baseAddress) }
            }
            #expect(place(parts[0]) == place(chunk))
        }
    }

    @Test(arguments: [
        ("{}", "missing option \"routes\""), ("{ \"routes\": {} }", "at least one route"),
        ("{ \"routes\": [] }", "must be an object with a condition for each route, found a list"),
        (
            "{ \"routes\": { \"unmatched\": { \"pointer\": \"/a\", \"exists\": true } } }",
            "\"unmatched\" is no name for a route: it stands for what no route takes"
        ),
        (
            "{ \"routes\": { \"a.b\": { \"pointer\": \"/a\", \"exists\": true } } }", "\"a.b\" is no name for a route"
        ), ("{ \"routes\": { \"a\": { \"pointer\": \"/a\", \"exists\": 1 } } }", "\"exists\" must be true or false"),
    ]) func whatIsWrongIsSaid(with: String, message: String) throws {
        let error = #expect(throws: FeedbusError.self) { try SwitchOptions.decoded(from: with) }
        #expect(error?.description.contains(message) == true, "\(error?.description ?? "none")")
    }
}
