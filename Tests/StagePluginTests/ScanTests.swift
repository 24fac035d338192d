// feedbus: a state that goes on with each event.

import FeedbusPlugin
import ScanPlugin
import Testing

struct ScanTests {
    @Test(arguments: [1, 2, .max])
    func eachEventGetsTheStateThatItLedTo(chunk: Int) throws {
        let trace = try run(
            Scan.self, #"{"jq": ".state + .event.n", "initial": 10}"#,
            Script(["1", "2", "3"].map { "{\"n\":\($0)}" }, chunk: chunk), busy: .milliseconds(1))
        #expect(trace.data == ["11", "13", "16"])
        #expect(trace.ids == ["1", "2", "3"])
        #expect(Set(trace.settled.map { $0.drop { $0 != ":" } }) == [":1", ":2", ":3"])
    }

    @Test func theStateIsNullAtFirstAndMayBeAnything() throws {
        let trace = try run(
            Scan.self, #"{"jq": "(.state // {}) | .[$in] += 1"}"#.replacingIn("$in", "\\\"x\\\""), Script(["1", "2"]))
        #expect(trace.data == [#"{"x":1}"#, #"{"x":2}"#])
        let initial = try run(
            Scan.self, #"{"jq": ".state", "initial": {"a": [1.50, "é\n", true, null], "b": {}}}"#, Script(["1"]))
        #expect(initial.data == [#"{"a":[1.5,"é\n",true,null],"b":{}}"#])
    }

    @Test func aFailureLeavesTheStateAsItWas() throws {
        let trace = try run(
            Scan.self, #"{"jq": ".state + .event", "initial": 0}"#, Script(["1", #""x""#, "2", "[]", "3"], chunk: 2))
        #expect(trace.data == ["1", "3", "6"])
        #expect(trace.refused.map(\.id) == ["2", "4"])
        #expect(trace.refused.first?.reason.contains(#"the jq expression ".state + .event" failed:"#) == true)
        #expect(Set(trace.settled) == ["0:1", "0:2 deadLettered", "0:3", "0:4 deadLettered", "0:5"])
    }

    @Test func nothingLeavesOutAndSeveralAreRefused() throws {
        let trace = try run(
            Scan.self,
            #"{"jq": "if .event == 0 then empty elif .event < 0 then 1, 2 else .state + .event end", "initial": 0}"#,
            Script(["5", "0", "-1", "1"]))
        #expect(trace.data == ["5", "6"])
        #expect(trace.refused.map(\.id) == ["3"])
        #expect(trace.refused.first?.reason.hasSuffix("it gives 2 values where one new state is wanted") == true)
    }

    @Test func theStateIsBounded() throws {
        let trace = try run(
            Scan.self, #"{"jq": ".state + [.event]", "initial": [], "max_state": "1KiB"}"#,
            Script((0..<100).map { _ in "\"" + String(repeating: "x", count: 97) + "\"" }))
        #expect(trace.data.count == 10)
        #expect(trace.refused.count == 90)
        #expect(trace.refused.first?.reason.contains("over \"max_state\": 1KiB") == true)
    }

    @Test func mistakesAreFoundWithTheirPlaces() throws {
        #expect(try mistakes(Scan.self, #"{"jq": ".state +"}"#).first?.hasPrefix("2:8 bad-expression") == true)
        #expect(try mistakes(Scan.self, #"{"initial": 1}"#).first?.contains("missing option \"jq\"") == true)
        #expect(
            try mistakes(Scan.self, #"{"jq": ".", "max_state": "1B"}"#).first?.hasPrefix("2:26 out-of-range") == true)
    }
}

extension String {
    fileprivate func replacingIn(_ old: String, _ new: String) -> String { replacing(old, with: new) }
}
