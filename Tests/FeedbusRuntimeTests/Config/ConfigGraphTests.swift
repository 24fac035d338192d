// feedbus: mistakes in how the nodes of a config read each other.

import FeedbusJSON
import Testing

@testable import FeedbusRuntime

@Suite struct ConfigGraphTests {
    @Test func aReplayToResumeWithComesFromASubjectOnDisk() {
        func found(_ subject: String) -> [String] {
            problems(
                """
                {
                  "sources": { "jokes": { "plugin": "Jokes" } }, "subjects": { "all": { "from": ["jokes"]\(subject) } },
                  "sinks": { "screen": { "plugin": "Null", "from": ["all"], "resume": "replay" },
                             "raw": { "plugin": "Null", "from": ["jokes", "all"], "resume": "place" } }
                }
                """)
        }
        #expect(found(#", "store": "disk", "replay": 5"#) == ["a plan, and"])
        for subject in ["", #", "store": "disk""#, #", "replay": 5"#] {
            #expect(
                found(subject) == [
                    #"3:71: error: sinks.screen has nothing to begin with: "replay" comes from a subject with "store": "disk""#
                        + #" and a "replay" above 0; give subjects.all "store": "disk" and a "replay", or take "resume" out"#
                ])
        }
    }

    @Test func cyclesOrphansAndTwoSinksOnOneFile() {
        #expect(
            problems(
                """
                {
                  "sources": { "jokes": { "plugin": "Jokes" }, "unread": { "plugin": "Jokes" } },
                  "stages": { "one": { "plugin": "Take", "from": ["jokes", "two"] },
                              "two": { "plugin": "Take", "from": ["one"] } },
                  "subjects": { "lonely": { "from": ["jokes"] } },
                  "sinks": { "log": { "plugin": "JSONLines", "from": ["two"], "with": { "path": "out/log.jsonl" } },
                             "again": { "plugin": "JSONLines", "from": ["two"], "with": { "path": "./out//log.jsonl" } },
                             "empty": { "plugin": "Null", "from": [] } }
                }
                """) == [
                    #"2:48: error: nobody reads sources.unread: name it in the "from" of another node, or take it out"#,
                    "3:60: error: cycle: one -> two -> one; events would go round for ever",
                    #"5:17: error: nobody reads subjects.lonely: name it in the "from" of another node, or take it out"#,
                    "7:83: error: sinks.again writes the same file as sinks.log: /home/out/log.jsonl",
                    #"8:51: error: sinks.empty reads nobody: its "from" is an empty list"#,
                ])
    }

    private func stages(_ reads: [String: [String]]) -> String {
        let stages = reads.sorted { $0.key < $1.key }.map { name, from in
            #""\#(name)": { "plugin": "Take", "from": [\#(from.map { "\"\($0)\"" }.joined(separator: ", "))] }"#
        }
        let names = reads.keys.sorted().map { "\"\($0)\"" }.joined(separator: ", ")
        return """
            { "sources": { "in": { "plugin": "Jokes" } },
              "stages": { \(stages.joined(separator: ",\n")) },
              "sinks": { "out": { "plugin": "Null", "from": [\(names)] } } }
            """
    }

    private func cycles(_ reads: [String: [String]]) -> [String] {
        load(stages(reads)).problems.map { String($0.message.dropFirst("cycle: ".count).prefix { $0 != ";" }) }
    }

    @Test func everyCycleIsSpeltOut() {
        #expect(cycles(["a": ["in", "a"]]) == ["a -> a"])
        #expect(cycles(["a": ["in", "c"], "b": ["a"], "c": ["b", "in"]]) == ["a -> b -> c -> a"])
        #expect(
            cycles(["a": ["in", "b"], "b": ["a"], "c": ["in", "d"], "d": ["c"]]) == ["a -> b -> a", "c -> d -> c"])
        #expect(cycles(["a": ["in", "b", "c"], "b": ["a"], "c": ["a"]]).sorted() == ["a -> b -> a", "a -> c -> a"])
        #expect(cycles(["a": ["b"], "b": ["a"], "c": ["b", "in"]]) == ["a -> b -> a"])
    }

    @Test func nodesComeAfterThoseThatTheyRead() throws {
        let plan = try #require(load(stages(["a": ["b", "c"], "b": ["c"], "c": ["in"]])).plan)
        #expect(plan.nodes.map(\.name) == ["in", "c", "b", "a", "out"])
    }

    @Test func readingASinkOrTheSameNodeTwice() {
        #expect(
            problems(
                """
                { "sources": { "jokes": { "plugin": "Jokes" } },
                  "sinks": { "log": { "plugin": "Null", "from": ["jokes", "jokes"] },
                             "more": { "plugin": "Null", "from": ["log", "jokes", 7] } } }
                """) == [
                    #"2:59: error: sinks.log reads "jokes" twice"#,
                    "3:51: error: sinks.more cannot read sinks.log: nothing comes out of a sink",
                    #"3:67: error: "from" must hold names of nodes, found a number"#,
                ])
    }

    @Test func anUnknownNodeIsNotReportedAsAnOrphanToo() {
        let text = minimal().replacing(#"["jokes"]"#, with: #"["joke"]"#)
        #expect(
            problems(text) == [
                #"3:50: error: unknown node "joke" in the "from" of sinks.log; did you mean "jokes"?"#
            ])
        #expect(
            problems(text.replacing("joke\"]", with: "nothing-like-it\"]")) == [
                #"3:50: error: unknown node "nothing-like-it" in the "from" of sinks.log"#
            ])
    }

    @Test func anUnknownPluginStillReadsAndIsRead() {
        #expect(
            problems(minimal().replacing("\"Jokes\"", with: "\"Yokes\"").replacing("\"Null\"", with: "\"Nul\"")) == [
                #"2:37: error: unknown source plugin "Yokes" at sources.jokes; did you mean "Jokes"?"#,
                #"3:33: error: unknown sink plugin "Nul" at sinks.log; did you mean "Null"?"#,
            ])
    }

    @Test func noSourcesAndNoSinks() {
        #expect(
            problems("{ }") == [
                "1:1: error: no sources: nothing would happen", "1:1: error: no sinks: nothing would come out",
            ])
        #expect(
            problems(#"{ "sources": { "jokes": { "plugin": "Jokes" } }, "sinks": { } }"#) == [
                "1:59: error: no sinks: nothing would come out"
            ])
        // A misspelt section is not missing as well.
        #expect(
            problems(minimal().replacing("\"sinks\"", with: "\"outputs\"")) == [
                #"3:3: error: unknown section "outputs"; did you mean "sinks"?"#
            ])
    }
}
