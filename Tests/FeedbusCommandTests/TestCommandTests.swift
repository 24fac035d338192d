// feedbus: tests of `feedbus test`.

import FeedbusBase
import FeedbusJSON
import Testing

@testable import FeedbusCommand

@Suite struct TestCommandTests {
    private static let config = """
        { "sources": { "n": { "plugin": "Numbers", "with": { "count": 3 } } },
          "sinks": { "void": { "plugin": "Void", "from": ["n"] } } }
        """

    private func run(_ test: String, _ arguments: [String] = [], expected: String? = nil) -> Result {
        var files = ["/home/config.json": Self.config, "/home/t.json": test]
        files["/home/expected.jsonl"] = expected
        return feedbusList(["test", "t.json"] + arguments, files: files)
    }

    private func lines(_ ids: [String]) -> String {
        ids.map { "{\"id\":\"\($0)\",\"x\":1}\n" }.joined()
    }

    @Test func whatComesAsExpectedPasses() {
        let told = run(
            #"{"once":true,"expect":{"void":{"events":"expected.jsonl","only":["/id"],"count":3}},"requests":{"total":0}}"#,
            expected: lines(["1", "2", "3"]))
        #expect(told.code == 0 && told.err == "", "\(told)")
        #expect(told.out.hasPrefix("ok  t.json (3 events to void; 0 requests; "))
    }

    @Test func whatDiffersIsNamedWithItsPlace() {
        let order = run(
            #"{"once":true,"expect":{"void":{"events":"expected.jsonl","only":["/id"]}}}"#,
            expected: lines(["2", "1", "3", "9"]))
        #expect(order.code == 1)
        #expect(order.out.contains("void: 1 missing, 1 out of order (4 events expected, 3 came)"), "\(order.out)")
        #expect(order.out.contains("- expected.jsonl:4: did not come: \"9\""))
        let any = run(
            #"{"once":true,"expect":{"void":{"events":"expected.jsonl","only":["/id"],"order":"any"}}}"#,
            expected: lines(["2", "1", "3"]))
        #expect(any.code == 0)
        let changed = run(
            #"{"once":true,"expect":{"void":{"events":[{"id":"1","data":7},{"id":"2"}],"only":["/id","/data"]}}}"#)
        #expect(changed.out.contains("! events[0]: \"1\""), "\(changed.out)")
        #expect(changed.out.contains("/data: expected 7, found "))
        #expect(changed.out.contains("+ number 3 was not expected: \"3\""))
        let count = run(#"{"once":true,"expect":{"void":{"count":4}},"requests":{"n":1,"n 304":2}}"#)
        #expect(count.code == 1)
        #expect(count.out.contains("void: expected 4 events, 3 came"))
        #expect(count.out.contains("expected 1 for \"n\", 0 were sent"))
        #expect(count.out.contains("expected 2 for \"n 304\", 0 were sent"))
    }

    @Test func mistakesInTheTestAreTold() {
        for (test, words) in [
            (#"{"expect":{"void":{"count":1}}}"#, "when does it end?"),
            (#"{"once":true}"#, "nothing is expected"),
            (#"{"once":true,"for":"1s","expect":{"void":{"count":1}}}"#, "exclude each other"),
            (#"{"once":true,"expekt":{}}"#, "did you mean \"expect\"?"),
            (#"{"once":true,"expect":{"viod":{"count":1}}}"#, "no sink \"viod\"; did you mean \"void\"?"),
            (#"{"once":true,"requests":{"m":1}}"#, "no node \"m\""),
            (#"{"once":true,"config":"c.json","requests":{"total":1}}"#, "No such file"),
            (#"{"once":true,"expect":{"void":{"events":"gone.jsonl"}}}"#, "cannot read /home/gone.jsonl"),
            (#"{"once":true,"recording":"gone.har","expect":{"void":{"count":1}}}"#, "cannot read /home/gone.har"),
            (#"{"once":true,"set":["x"],"expect":{"void":{"count":1}}}"#, "not of the form PATH=VALUE"),
            (#"{"once":true,"set":["sources.n.with.cuont=1"],"expect":{"void":{"count":1}}}"#, "cuont"),
            (#"{"once":true,"expect":{"void":{"events":"expected.jsonl"}}}"#, "expected.jsonl:2: no JSON"),
        ] {
            let told = run(test, expected: "{}\nno\n")
            #expect(told.code == 2 && told.out == "" && told.err.contains(words), "\(test): \(told)")
        }
        #expect(run("{}", ["--seed", "x"]).code == 2)
        #expect(feedbus("test").code == 2)
    }

    @Test func overridesAreObeyed() {
        let told = run(#"{"once":true,"set":["sources.n.with.count=5"],"expect":{"void":{"count":5}}}"#)
        #expect(told.code == 0, "\(told)")
    }

    @Test func eventsAreComparedByTheirFields() throws {
        let one = FlatEvent(try JSON.parse(#"{"a":{"b/c":[1,{}],"~":"\u0041"},"n":1.0}"#))
        #expect(one.fields == ["/a/b~1c/0": "1", "/a/b~1c/1": "{}", "/a/~0": "\"A\"", "/n": "1.0"])
        let (inline, _) = ConfigText.parse(Bytes(#"{"n":1.0,"a":{"~":"A","b/c":[1,{}]}}"#))
        #expect(try FlatEvent(#require(inline)) == one)
        #expect(one.compared(only: ["/a"], ignore: ["/a/b~1c"]).fields == ["/a/~0": "\"A\""])
        let other = FlatEvent(try JSON.parse(#"{"n":1}"#))
        #expect(
            other.compared(only: ["/n"], ignore: nil).differences(from: one.compared(only: ["/n"], ignore: nil))
                == ["/n: expected 1.0, found 1"])
    }

    @Test func manyDifferencesAreCutShort() throws {
        let events = try (0..<50).map { FlatEvent(try JSON.parse(Bytes("{\"id\":\($0)}"))) }
        let comparison = EventComparison(expected: events, found: [], inOrder: true) { "\($0)" }
        #expect(comparison.lines.count == 21 && comparison.lines[20] == "… and 30 more differences")
        #expect(EventComparison(expected: events, found: events, inOrder: true) { "\($0)" }.lines.isEmpty)
    }
}
