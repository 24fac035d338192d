// feedbus: a test of a config, as its file says it.

import FeedbusBase
import FeedbusJSON
import FeedbusPlugin
import FeedbusRuntime

/// What is run, and what is to come of it.
struct ConfigTest: PluginOptions {
    var config = "config.json"
    var recording: String?
    var once = false
    var duration: Duration?
    var overrides: [String]?
    var seed = 1
    var programs: [NamedValue<StandIn>] = []
    var expect: [NamedValue<SinkExpectation>] = []
    var requests: [NamedValue<Int>] = []

    static let options: [Option<ConfigTest>] = [
        .string("config", \.config, help: "the config that is tested", example: "\"config.json\""),
        .string(
            "recording", \.recording, help: "the answers of the services (HAR 1.2); by default what http.offline names"),
        .boolean("once", \.once, help: "poll once, as with --once"),
        .duration(
            "for", \.duration, in: .milliseconds(1)...Duration.seconds(366 * 86_400),
            help: "stop after so much virtual time", example: "\"1h\""
        ).synonyms("duration", "time"),
        .strings("set", \.overrides, help: "values for the config, as --set takes them").synonyms("override"),
        .integer("seed", \.seed, in: 0...Int.max, help: "for the order of what happens at once"),
        NamedValue.option(
            "programs", \.programs, help: "what stands in for the programs that plugins start, by name",
            example: "{ \"apertium\": { \"prints\": \"eng-spa\\n\" } }"),
        NamedValue.option(
            "expect", \.expect, help: "the events that sinks get, by sink",
            example: "{ \"log\": { \"events\": \"expected.jsonl\" } }"
        ).synonyms("expected", "sinks", "events"),
        NamedValue.counts(
            "requests", \.requests,
            help: "how many requests are sent: \"total\", by source, by answer, or by source and answer",
            example: "{ \"total\": 61, \"rxswift\": 60, \"rxswift 304\": 59 }"),
    ]

    struct Mistake: Error {
        var problems: [ConfigProblem]
    }

    /// Reads a test; every mistake in it is found.
    static func read(_ path: String, _ input: CommandInput) -> Result<ConfigTest, Mistake> {
        let text: Bytes
        do { text = try input.files.read(path, ConfigLoader.sizeLimit) } catch {
            return .failure(
                Mistake(problems: [
                    ConfigProblem(
                        "cannot read the test: \(error.reason)", at: .wholeFile, code: "unreadable-file", path: "")
                ]))
        }
        let (parsed, problems) = ConfigText.parse(text)
        guard let parsed, problems.isEmpty else { return .failure(Mistake(problems: problems)) }
        let context = OptionContext(owner: "the test", environment: input.environment, readFile: { _ in nil })
        var (test, found) = ConfigTest.decode(parsed, owner: parsed, context: context)
        if test.once && test.duration != nil {
            found.append(parsed["for"]!.problem("\"for\" and \"once\" exclude each other", code: "conflicting-options"))
        }
        if !test.once && test.duration == nil {
            found.append(
                parsed.problem("when does it end? Say \"for\": \"1h\" or \"once\": true", code: "missing-option"))
        }
        if test.expect.isEmpty && test.requests.isEmpty && found.isEmpty {
            found.append(
                parsed.problem("nothing is expected: say \"expect\" or \"requests\"", code: "missing-option"))
        }
        return found.isEmpty ? .success(test) : .failure(Mistake(problems: found.sorted { $0.position < $1.position }))
    }
}
