// feedbus: mistakes in the wiring of stages with several inputs or several ways out.

import FeedbusJSON
import Testing

@testable import FeedbusRuntime

@Suite struct ConfigStageTests {
    @Test func aJoinNeedsTwoNodes() {
        #expect(
            problems(
                """
                { "sources": { "jokes": { "plugin": "Jokes" } },
                  "stages": { "pairs": { "plugin": "Zip", "from": ["jokes"] } },
                  "sinks": { "log": { "plugin": "Null", "from": ["pairs"] } } }
                """) == [
                    #"2:51: error: Zip joins several nodes: the "from" of stages.pairs must name at least 2, and names 1"#
                ])
    }

    private func routed(_ from: String, more: String = "") -> [String] {
        problems(
            """
            { "sources": { "jokes": { "plugin": "Jokes" } },
              "stages": { "by": { "plugin": "Switch", "from": ["jokes"], "with": { "routes": {
                "push": {},
                "watch": {} } } } },
              "sinks": {
                "log": { "plugin": "Null", "from": [\(from)] }\(more) } }
            """)
    }

    @Test func routesAreReadByTheirNames() {
        #expect(routed(#""by.push", "by.watch""#) == ["a plan, and"])
        #expect(routed(#""by.push", "by.watch", "by.unmatched""#) == ["a plan, and"])
    }

    @Test func theSwitchItselfIsNotRead() {
        #expect(
            routed(#""by""#) == [
                #"6:41: error: stages.by is read by its routes: sinks.log must name one of "by.push", "by.watch", "by.unmatched""#
            ])
    }

    @Test func anUnknownRouteIsSuggested() {
        #expect(
            routed(#""by.push", "by.wacth""#) == [
                #"6:52: error: stages.by has no route "wacth"; it has "by.push", "by.watch", "by.unmatched"; did you mean "by.watch"?"#
            ])
        #expect(
            routed(#""by.push", "by.x""#) == [
                #"6:52: error: stages.by has no route "x"; it has "by.push", "by.watch", "by.unmatched""#
            ])
        #expect(
            routed(#""by.push", "bi.watch""#) == [
                #"6:52: error: unknown node "bi.watch" in the "from" of sinks.log; did you mean "by.watch"?"#
            ])
    }

    @Test func aRouteThatNobodyReadsIsAnOrphan() {
        #expect(
            routed(#""by.push""#) == [
                #"4:5: error: nobody reads the route "watch" of stages.by: name "by.watch" in the "from" of another node, or take the route out"#
            ])
        #expect(
            routed(#""by.unmatched", "jokes""#).map { $0.prefix(39) } == [
                "3:5: error: nobody reads the route \"pus", "4:5: error: nobody reads the route \"wat",
            ])
    }

    @Test func otherNodesHaveNoRoutes() {
        #expect(
            routed(#""by.push", "by.watch", "jokes.push""#) == [
                #"6:64: error: sources.jokes has no routes, and so no "push"; did you mean "jokes"?"#
            ])
    }

    @Test func aRouteOfASinkIsNoNews() {
        #expect(
            routed(
                #""by.push", "by.watch""#, more: #", "two": { "plugin": "Null", "from": ["log.push"] }"#
            ).map { $0.contains("cannot read sinks.log") } == [true])
    }

    @Test func aCycleThroughARouteIsFound() {
        #expect(
            problems(
                """
                { "sources": { "jokes": { "plugin": "Jokes" } },
                  "stages": { "by": { "plugin": "Switch", "from": ["jokes", "one"], "with": { "routes": { "a": {} } } },
                              "one": { "plugin": "Take", "from": ["by.a"] } },
                  "sinks": { "log": { "plugin": "Null", "from": ["one"] } } }
                """) == ["2:61: error: cycle: by -> one -> by; events would go round for ever"])
    }

    @Test func whatIsWrongWithTheSwitchIsSaidOnce() {
        #expect(
            problems(
                """
                { "sources": { "jokes": { "plugin": "Jokes" } },
                  "stages": { "by": { "plugin": "Switch", "from": ["jokes"], "with": { "routes": 3 } } },
                  "sinks": { "log": { "plugin": "Null", "from": ["by.push"] } } }
                """) == ["2:82: error: no routes"])
    }

    private func workers(_ number: String, _ plugin: String) -> [String] {
        problems(
            """
            { "sources": { "jokes": { "plugin": "Jokes" } },
              "stages": { "work": { "plugin": "\(plugin)", "from": ["jokes"], "workers": \(number) } },
              "sinks": { "log": { "plugin": "Null", "from": ["work"] } } }
            """)
    }

    @Test func workersAreForStagesThatAllowThem() {
        #expect(workers("64", "Map") == ["a plan, and"])
        #expect(workers("1", "Take") == ["a plan, and"])
        #expect(
            workers("2", "Take") == [
                #"2:73: error: Take cannot share its work between several instances: leave "workers" of stages.work out"#
            ])
        #expect(workers("65", "Map") == [#"2:72: error: "workers" must be a whole number from 1 to 64, found 65"#])
    }

    private func timeout(_ value: String, _ plugin: String) -> [String] {
        problems(
            """
            { "sources": { "jokes": { "plugin": "Jokes" } },
              "stages": { "work": { "plugin": "\(plugin)", "from": ["jokes"], "timeout": \(value) } },
              "sinks": { "log": { "plugin": "Null", "from": ["work"], "timeout": "1d" } } }
            """)
    }

    @Test func aTimeoutIsForStagesThatAnswerEachChunk() {
        #expect(timeout("\"100ms\"", "Map") == ["a plan, and"])
        #expect(
            timeout("\"30s\"", "Take") == [
                #"2:73: error: Take may hold events for as long as it likes, and has no calls that "timeout" could bound: leave it out of stages.work"#
            ])
        #expect(timeout("\"99ms\"", "Map").count == 1)
    }

    private func inTurn(_ plugin: String, from: String, more: String = "", subject: String = "") -> [String] {
        problems(
            """
            { "sources": { "a": { "plugin": "Jokes" }, "b": { "plugin": "Jokes" } },
              "subjects": { "all": { "from": ["a"]\(subject) } },
              "stages": {
                "one": { "plugin": "Map", "from": ["all"] },
                "two": { "plugin": "Map", "from": ["all"] },
                "end": { "plugin": "\(plugin)", "from": [\(from)]\(more) } },
              "sinks": { "log": { "plugin": "Null", "from": ["end", "one", "two", "b"] } } }
            """)
    }

    @Test func twoInputsInTurnThatComeFromOneNodeAreWarnedOf() {
        let warning =
            #"stages.end takes "two" when "one" has ended, and both come from "all": when the buffer in front of stages.end is full, neither goes on. Read them from different sources, or let the buffer drop"#
        #expect(inTurn("Concat", from: #""one", "two""#) == ["a plan, and", "6:50: warning: \(warning)"])
        #expect(
            inTurn("Concat", from: #""b", "one", "two""#) == ["a plan, and", "6:55: warning: \(warning)"])
        #expect(
            inTurn("Concat", from: #""a", "one""#) == [
                "a plan, and",
                #"6:48: warning: stages.end takes "one" when "a" has ended, and both come from "a": when the buffer in front of stages.end is full, neither goes on. Read them from different sources, or let the buffer drop"#,
            ])
    }

    @Test func whatDoesNotStallIsNotWarnedOf() {
        #expect(inTurn("Concat", from: #""b", "one""#) == ["a plan, and"])
        #expect(inTurn("Zip", from: #""one", "two""#) == ["a plan, and"])
        // A buffer that drops, and a log on disk, hold nobody up.
        #expect(
            inTurn("Concat", from: #""one", "two""#, more: #", "buffer": { "when_full": "drop_newest" }"#)
                == ["a plan, and"])
        #expect(inTurn("Concat", from: #""one", "two""#, subject: #", "store": "disk""#) == ["a plan, and"])
    }
}
