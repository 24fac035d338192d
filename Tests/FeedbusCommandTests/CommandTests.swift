// feedbus: what the commands print, and their exit codes.

import FeedbusBase
import FeedbusPlugin
import FeedbusRuntime
import Testing

@testable import FeedbusCommand

@Suite struct CommandTests {
    @Test(arguments: ["run", "check", "list", "describe", "schema", "test", "state", "replay", "version", "help"])
    func everyCommandHasHelp(_ name: String) {
        for help in ["--help", "-h"] {
            let told = feedbus(name, help)
            #expect(told.code == 0 && told.err == "")
            #expect(told.out.hasPrefix("Usage: feedbus \(name)"))
        }
        #expect(feedbus("help", name).out == feedbus(name, "--help").out)
        #expect(feedbus("--help").out.contains("\n  \(name) "))
        #expect(feedbus("help").out == feedbus("--help").out)
    }

    @Test func helpComesFromTheDeclarations() {
        #expect(
            feedbus("check", "--help").out == """
                Usage: feedbus check [FILE] [options]

                find everything that is wrong with a config; start and write nothing

                Problems go to stdout. Exit code 0: there are none; 2: there are.

                Arguments:
                  FILE  the config; without it ./config.json

                Options:
                  --config FILE    the config, as FILE alone
                  --format FORMAT  how problems are written: text, json
                  --help           show this help

                """)
        for option in RunCommand.options { #expect(feedbus("run", "--help").out.contains("  \(option.name)")) }
    }

    @Test func linesOfHelpAreWrapped() {
        let words = String(repeating: "word ", count: 40) + "end"
        let lines = HelpText.table([("name", words)]).split(separator: "\n")
        #expect(lines.count == 3 && lines.allSatisfy { $0.count <= 100 })
        #expect(lines[1].hasPrefix("        word"))
    }

    @Test func checkOfAGoodConfig() {
        let told = feedbus("check", "config.json")
        #expect(told.code == 0 && told.err == "")
        #expect(told.out == "no problems in config.json: 1 source, 1 sink\n")
        #expect(feedbus("check", "--format", "json").out == "[]\n")
    }

    @Test func checkOfABadConfig() {
        let line =
            "bad.json:2:34: error: unknown sink plugin \"Viod\" at sinks.void; did you mean \"Void\"?\n"
        let told = feedbus("check", "--config", "bad.json")
        #expect(told.code == 2 && told.out == line && told.err == "1 error in bad.json\n")
        let json = feedbus("check", "bad.json", "--format=json")
        #expect(json.code == 2 && json.err == "")
        #expect(json.out.contains("\"line\":2,\"column\":34,\"severity\":\"error\",\"code\":\"unknown-plugin\""))
        let ran = feedbus("run", "--config", "bad.json")
        #expect(ran.code == 2 && ran.out == "" && ran.err == line + "1 error in bad.json; nothing was started\n")
    }

    @Test func colourIsForTerminalsOnly() {
        #expect(feedbus("check", "bad.json", terminal: true).out.contains("\u{1B}[1;31merror:"))
        #expect(!feedbus("check", "bad.json").out.contains("\u{1B}"))
        var input = CommandInput(registry: .init(), environment: [:], files: .system)
        #expect(input.mayColor(true) && !input.mayColor(false))
        input.environment = ["NO_COLOR": "1"]
        #expect(!input.mayColor(true))
    }

    @Test func aMissingConfig() {
        let told = feedbus("run", "--config", "nowhere.json")
        #expect(told.code == 2)
        #expect(
            told.err == """
                nowhere.json: error: cannot read the config: No such file or directory
                1 error in nowhere.json; nothing was started

                """)
    }

    @Test func listGroupsThePlugins() {
        #expect(
            feedbus("list").out == """
                Sources:
                  Tick     ticks
                  Numbers  counts, for tests

                Sinks:
                  Void  swallows
                  Tick  takes ticks

                "feedbus describe NAME" shows the options of one.

                """)
    }

    @Test func describeSaysHowAStageIsWired() {
        var registry = PluginRegistry()
        registry.add(Pair.self)
        registry.add(Sorter.self)
        registry.add(Changer.self)
        #expect(
            registry.plugins.map { OptionText.describe($0).split(separator: "\n", omittingEmptySubsequences: false)[3] }
                == [
                    "It reads at least two nodes; their order in \"from\" counts.",
                    "Other nodes read one of its routes, \"<node>.<route>\", or the rest, \"<node>.unmatched\".",
                    "Several instances may share its work: \"workers\" of the node.",
                ])
    }

    @Test func describeShowsAllKindsOfAName() {
        #expect(
            feedbus("describe", "Tick").out == """
                Tick, a source
                ticks

                Options of "with":
                  every: duration from "1s" to "60s"; default "1s"
                      time between two ticks
                      example: "every": "5s"
                  labels: list of text; required
                      what to say
                      example: "labels": ["tick"]

                Tick, a sink
                takes ticks

                It has no options.

                """)
    }

    @Test func versionAndSchema() {
        #expect(feedbus("version").out == "feedbus \(feedbusVersion)\n")
        #expect(feedbus("--version").out == "feedbus \(feedbusVersion)\n")
        #expect(feedbus("schema").out.hasPrefix("{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\""))
    }
}
