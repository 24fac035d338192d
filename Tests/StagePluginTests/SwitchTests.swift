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

    @Test func jqAndFastConditionsStandSideBySide() throws {
        let with = """
            { "routes": { "big": ".n > 10", "text": { "pointer": "/n", "equals": "x" }, "small": ".n < 5" } }
            """
        let data = ["{\"n\":20}", "{\"n\":1}", "{\"n\":\"x\"}", "{\"n\":7}"]
        // In jq's order a string is above every number.
        #expect(try routed(with, data) == [["0", "2"], [], ["1"], ["3"]])
    }

    @Test func theWholeEventCanBeLookedAt() throws {
        let with = #"{ "on": "event", "routes": { "one": { "pointer": "/id", "equals": "1" } } }"#
        #expect(try routed(with, ["{}", "{}"]) == [["1"], ["0"]])
    }

    @Test func anEventOnWhichAConditionFailsIsRefusedAlone() throws {
        let options = try SwitchOptions.decoded(
            from:
                #"{ "mode": "all", "routes": { "all": "true", "odd": "if .n == 2 then error(\"no\") else .n % 2 == 1 end" } }"#
        )
        try Simulation.run { simulation in
            let bench = PluginBench(simulation)
            let stage = Switch(options: options, context: bench.context())
            let parts = try await stage.route(events(["{\"n\":1}", "{\"n\":2}", "{\"n\":4}"]))
            #expect(parts.map { $0.map(\.id.string) } == [["0", "2"], ["0"], []])
            #expect(bench.refused.map(\.id) == ["1"])
        }
    }

    @Test func orItFailsTheStage() throws {
        let options = try SwitchOptions.decoded(from: #"{ "routes": { "bad": "error(\"no\")" } }"#)
        try Simulation.run { simulation in
            let stage = Switch(options: options, context: PluginBench(simulation).context(onError: .fail))
            await #expect(throws: FeedbusError.self) { try await stage.route(events(["{}"])) }
        }
    }

    @Test func aMistakeInAnExpressionIsFoundWithTheConfig() throws {
        let error = #expect(throws: FeedbusError.self) {
            try SwitchOptions.decoded(from: #"{ "routes": { "a": ".n >" } }"#)
        }
        #expect(error?.description.contains("\"a\"") == true, "\(error?.description ?? "none")")
    }
}
