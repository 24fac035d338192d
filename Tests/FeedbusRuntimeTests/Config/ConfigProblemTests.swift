// feedbus: every kind of mistake in a config, with its place and its words.

import FeedbusBase
import FeedbusPlugin
import FeedbusStore
import Testing

@testable import FeedbusRuntime

@Suite struct ConfigProblemTests {
    @Test func anUnknownOptionIsToldWithTheOneThatWasMeant() {
        #expect(
            problems(minimal(source: #", "with": { "intervall": "10s" }"#)) == [
                #"2:56: error: unknown option "intervall" of Jokes at sources.jokes.with; did you mean "every"?"#
            ])
    }

    @Test func misspeltNames() {
        #expect(
            problems(
                """
                {
                  "sources": { "jokes": { "plugin": "Jokez", "with": { "every": "10s" } },
                               "rx": { "plugin": "GitHubEvents", "with": { "repo": "a/b", "per_pag": 10 } } },
                  "stages": { "one": { "plugin": "Take", "frm": ["rx"], "from": ["rx"], "with": { "count": 9 } } },
                  "sinks": { "log": { "plugin": "JSONLines", "from": ["jokes", "onee"], "with": { "path": "log.jsonl" } } },
                  "sinkz": { }
                }
                """) == [
                    #"2:37: error: unknown source plugin "Jokez" at sources.jokes; did you mean "Jokes"?"#,
                    #"3:75: error: unknown option "per_pag" of GitHubEvents at sources.rx.with; did you mean "per_page"?"#,
                    #"4:42: error: unknown option "frm" of a stage at stages.one; did you mean "from"?"#,
                    #"5:64: error: unknown node "onee" in the "from" of sinks.log; did you mean "one"?"#,
                    #"6:3: error: unknown section "sinkz"; did you mean "sinks"?"#,
                ])
    }

    @Test func wrongTypesRangesAndChoices() {
        #expect(
            problems(
                """
                {
                  "feedbus": { "shutdown_grace": "2h", "log": { "level": "warn" }, "supervision": { "within": 5 } },
                  "sources": {
                    "rx": { "plugin": "GitHubEvents", "with": { "repo": 17, "per_page": 0, "types": [] } },
                    "jokes": { "plugin": "Jokes", "with": { "service": "icanhazdadjokes", "every": "often", "count": 1.5 } },
                    "none": null
                  },
                  "subjects": { "act": { "from": ["rx", "jokes", "none"], "replay": -1, "scope": "foreverr" } },
                  "sinks": {
                    "log": { "plugin": "Null", "from": "act", "buffer": { "events": 0, "when_full": "explode" },
                             "retry": { "attempts": 101, "base": "1ms", "jitter": true } }
                  }
                }
                """) == [
                    #"2:34: error: "shutdown_grace" must be from "0ms" to "1h", found "2h""#,
                    #"2:58: error: "warn" is no value of "level": one of "trace", "debug", "info", "warning", "error"; did you mean "warning"?"#,
                    #"2:95: error: "within" must be a duration such as "250ms", "60s", "5m", "1h" or "1d", found a number"#,
                    #"4:57: error: "repo" must be a non-empty string, found a number"#,
                    #"4:73: error: "per_page" must be a whole number from 1 to 100, found 0"#,
                    #"4:85: error: "types" must not be an empty list"#,
                    #"5:56: error: "icanhazdadjokes" is no value of "service": one of "chucknorris", "icanhazdadjoke", "official"; did you mean "icanhazdadjoke"?"#,
                    #"5:84: error: "every" must be a duration such as "250ms", "60s", "5m", "1h" or "1d", found "often""#,
                    #"5:102: error: "count" must be a whole number from 1, found 1.5"#,
                    #"6:13: error: expected an object with options, found null"#,
                    #"8:69: error: "replay" must be a whole number from 0 to 1000000, found -1"#,
                    #"8:82: error: "foreverr" is no value of "scope": one of "while_connected", "forever"; did you mean "forever"?"#,
                    #"10:40: error: "from" must be a list of node names, found a string: write ["act"]"#,
                    #"10:69: error: "events" must be a whole number from 1 to 1000000, found 0"#,
                    #"10:85: error: "explode" is no value of "when_full": one of "block", "drop_oldest", "drop_newest", "latest", "fail""#,
                    #"11:37: error: "attempts" must be a whole number from 1 to 100, found 101"#,
                    #"11:50: error: "base" must be from "10ms" to "1h", found "1ms""#,
                    #"11:67: error: "jitter" must be one of "full", "none", found a boolean"#,
                ])
    }

    @Test func exactlyOneOfAndRequiredOptions() {
        #expect(
            problems(
                """
                {
                  "sources": { "none": { "plugin": "GitHubEvents" },
                               "both": { "plugin": "GitHubEvents", "with": { "repo": "a/b", "org": "c" } } },
                  "sinks": { "log": { "plugin": "JSONLines", "from": ["none", "both"], "with": { } },
                             "bare": { "from": ["none"] } }
                }
                """) == [
                    #"2:24: error: exactly one of "repo" and "org" is needed (GitHubEvents at sources.none)"#,
                    #"3:60: error: exactly one of "repo" and "org" is needed (GitHubEvents at sources.both)"#,
                    #"4:80: error: missing option "path" of JSONLines at sinks.log.with (the file)"#,
                    #"5:22: error: missing option "plugin" of a sink at sinks.bare (the plugin that runs the node)"#,
                ])
    }

    @Test func aMisspeltRequiredOptionIsNotMissingAsWell() {
        #expect(
            problems(
                minimal().replacing(
                    #""Null", "from": ["jokes"]"#, with: #""JSONLines", "frmo": ["jokes"], "with": { "pth": "a" }"#))
                == [
                    #"3:46: error: unknown option "frmo" of a sink at sinks.log; did you mean "from"?"#,
                    #"3:75: error: unknown option "pth" of JSONLines at sinks.log.with; did you mean "path"?"#,
                ])
    }

    @Test func optionsInTheWrongPlaceAreToldWhereTheyBelong() {
        #expect(
            problems(
                """
                {
                  "sources": { "jokes": { "plugin": "Jokes", "every": "5s", "from": ["x"],
                                          "with": { "retry": { "attempts": 3 } } } },
                  "sinks": { "log": { "plugin": "JSONLines", "from": ["jokes"], "path": "log.jsonl" } }
                }
                """) == [
                    #"2:46: error: unknown option "every" of a source at sources.jokes: it is an option of Jokes and belongs into "with""#,
                    #"2:61: error: unknown option "from" of a source at sources.jokes: only stages, subjects, sinks have it"#,
                    #"3:37: error: unknown option "retry" of Jokes at sources.jokes.with: it belongs beside "with""#,
                    #"4:65: error: unknown option "path" of a sink at sinks.log: it is an option of JSONLines and belongs into "with""#,
                ])
    }

    @Test func aPluginOfAnotherKind() {
        #expect(
            problems(minimal().replacing(#""Null""#, with: #""Take""#)) == [
                #"3:33: error: Take is a stage, not a sink: sinks.log belongs into "stages""#
            ])
    }

    @Test func namesOfNodes() {
        #expect(
            problems(
                """
                {
                  "sources": { "jokes": { "plugin": "Jokes" }, "Bad Name": { "plugin": "Jokes" } },
                  "subjects": { "jokes": { "from": ["Bad Name"] } },
                  "sinks": { "log": { "plugin": "Null", "from": ["jokes"] } }
                }
                """) == [
                    #"2:48: error: "Bad Name" is no name for a source: a name begins with a letter a-z and goes on with a-z, 0-9, _ and -"#,
                    #"3:17: error: the name "jokes" is already that of sources.jokes (line 2)"#,
                ])
    }

    private func subject(_ fields: String) -> String {
        minimal().replacing(
            #""sinks""#, with: #""subjects": { "all": { "from": ["jokes"]\#(fields) } }, "sinks""#
        ).replacing(#"["jokes"] }"#, with: #"["all"] }"#)
    }

    @Test func aDurableSubjectHasARetentionAndALimit() throws {
        let (plan, problems) = load(
            subject(
                #", "store": "disk", "replay": 5, "retain": { "events": 10, "bytes": "1MiB", "age": "2d" }, "limit": { "bytes": "2MiB", "when_full": "drop_oldest" }"#
            ))
        #expect(problems.isEmpty)
        let retention = try #require(plan?.nodes.first { $0.name == "all" }?.retention)
        #expect(retention.events == 10)
        #expect(retention.bytes == 1 << 20)
        #expect(retention.age == .seconds(2 * 86_400))
        #expect(retention.replay == 5)
        #expect(retention.limit == 2 << 20)
        #expect(retention.whenFull == .dropOldest)
        #expect(load(subject("")).plan?.nodes.first { $0.name == "all" }?.retention == nil)
    }

    @Test(arguments: [
        #", "retain": { "events": 10 }"#, #", "store": "memory", "limit": {}"#,
        #", "store": "disk", "scope": "while_connected""#,
    ])
    func fieldsOfADurableSubjectThatContradictEachOtherAreFound(fields: String) {
        let found = problems(subject(fields))
        #expect(found.count == 1)
        #expect(found.first?.contains("disk") == true)
    }

    @Test func baseIsNotLongerThanCap() {
        #expect(
            problems(minimal(sink: #", "retry": { "base": "2m" }"#)) == [
                #"3:69: error: "base" (2m) is longer than "cap" (60s) at sinks.log.retry"#
            ])
    }

    @Test func aRecordingThatIsNotThere() {
        #expect(
            problems(minimal(#" "http": { "offline": "demo.har" },"#)) == [
                "1:24: error: there is no recording at /home/demo.har"
            ])
    }

    @Test func secretsComeFromTheEnvironmentOrAFileAndAreNotShown() {
        func config(_ token: String) -> String {
            """
            { "sources": { "rx": { "plugin": "GitHubEvents", "with": { "repo": "a/b", "token": \(token) } } },
              "sinks": { "log": { "plugin": "Null", "from": ["rx"] } } }
            """
        }
        #expect(load(config(#"{ "secret": "env:T" }"#), environment: ["T": "x"]).problems == [])
        #expect(load(config(#"{ "secret": "file:key" }"#), files: ["/home/key": "x\n"]).problems == [])
        #expect(
            problems(config(#"{ "secret": "env:T" }"#)) == [
                #"1:96: error: the environment variable T of "token" is not set"#
            ])
        #expect(
            problems(config(#"{ "secret": "file:key" }"#)) == [
                #"1:96: error: the file key of "token" cannot be read"#
            ])
        #expect(!problems(config(#""hunter2""#)).joined().contains("hunter2"))
    }

    @Test func everythingAtOnceAlsoWithABrokenText() {
        #expect(
            problems(
                """
                {
                  "sources": { "jokes": { "plugin": "Jokes", "with": { "intervall": "60s", } },
                               "rx": { "plugin": "GithubEvents", "with": { "repo": "a/b" } } },
                  "subjects": { "all": { "from": ["jokes", "rxx"], "scope": "sometimes" } },
                  "sinks": { "log": { "plugin": "JSONLines", "from": ["all"], "with": { "path": "a.jsonl", "path" : "b.jsonl" } },
                             "Bad Name": { "plugin": "Null", "from": ["all"] } }
                }
                """
            ).map { String($0.prefix { $0 != "\"" }) } == [
                "2:56: error: unknown option ", "2:74: error: trailing comma: nothing follows it",
                "3:34: error: unknown source plugin ", "4:44: error: unknown node ", "4:61: error: ",
                "5:92: error: duplicate key ", "6:14: error: ",
            ])
    }

    @Test func aBrokenTextMakesNoNoise() {
        // The rest of the file is lost: that nobody reads, and that there are no sinks, is not the user's mistake.
        let (_, cut) = load(#"{ "sources": { "jokes": { "plugin": "Jokes" }, "rx": { "plugin": "Jokes" "#)
        #expect(Set(cut.map(\.code)) == ["unclosed"])
        #expect(problems(minimal(source: #", "with": { "count": 1O }"#)).count == 1)
        #expect(problems(minimal().replacing(#""Jokes""#, with: "")).count == 1)
    }
}
