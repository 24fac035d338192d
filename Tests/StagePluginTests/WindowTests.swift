// feedbus: one event of several, and the receipts of all of them.

import FeedbusPlugin
import Testing
import WindowPlugin

private func window(_ data: String...) -> String {
    "{\"count\":\(data.count),\"events\":[\(data.joined(separator: ","))]}"
}

struct WindowTests {
    @Test(arguments: [1, 2, 3, .max])
    func countEndsAWindow(chunk: Int) throws {
        let trace = try run(
            Window.self, #"{"count": 2}"#, Script(["1", "[2]", "3", "4", "5"], chunk: chunk), busy: .milliseconds(1))
        #expect(trace.data == [window("1", "[2]"), window("3", "4"), window("5")])
        #expect(trace.ids == ["1..2", "3..4", "5..5"])
        #expect(trace.events.allSatisfy { $0.origin.type == "dev.feedbus.window" && $0.origin.node == "src" })
        #expect(trace.settled.count == 5)
    }

    @Test func timeEndsAWindowToo() throws {
        let script = Script([(10, ["1"]), (20, ["2"]), (30, ["3"]), (180, ["4"])], end: 190)
        let trace = try run(Window.self, #"{"count": 2, "time": "50ms", "type": "org.example.two"}"#, script)
        // A full window begins the time anew; windows without events are not emitted.
        #expect(trace.output == ["20:\(window("1", "2"))", "70:\(window("3"))", "190:\(window("4"))"])
        #expect(Set(trace.settled) == ["20:1", "20:2", "70:3", "190:4"])
        #expect(trace.events.first?.origin.type == "org.example.two")
    }

    @Test func allEventsOfAWindowAreSettledWhenItIs() throws {
        let trace = try run(
            Window.self, #"{"time": "50ms"}"#, Script([(0, ["1", "2"]), (60, ["3"])], end: 70), busy: .milliseconds(30))
        #expect(trace.output == ["50:\(window("1", "2"))", "80:\(window("3"))"])
        #expect(Set(trace.settled) == ["80:1", "80:2", "110:3"])
    }

    @Test func aWindowThatTheInputDoesNotFinishIsDropped() throws {
        let failing = Script([(0, ["1"])], end: 10, failure: FeedbusError("test", "broken"))
        let trace = try run(Window.self, #"{"count": 2}"#, failing)
        #expect(trace.output == [])
        #expect(trace.error == "broken")
    }

    @Test func timeAloneIsBoundedByNumber() throws {
        let trace = try run(
            Window.self, #"{"time": "1h"}"#, Script(Array(repeating: "1", count: 10_001), chunk: 3_000))
        #expect(trace.ids == ["1..10000", "10001..10001"])
    }

    @Test func mistakesAreFoundWithTheirPlaces() throws {
        #expect(
            try mistakes(Window.self, "{}") == [#"2:1 missing-option it needs "count" or "time", or both (Window at )"#]
        )
        #expect(
            try mistakes(Window.self, #"{"count": 0, "time": "1us"}"#).map { $0.prefix { $0 != "\"" } } == [
                "2:11 out-of-range ", "2:22 not-a-duration ",
            ])
    }
}
