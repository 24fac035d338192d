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

/// A member of an object whose names are the user's own.
struct NamedValue<Value: Sendable>: Sendable {
    var name: String
    var value: Value
    var place: PositionedValue

    static func option<Root: PluginOptions>(
        _ name: String, _ path: FeedbusPlugin.OptionPath<Root, [NamedValue]>, help: String, example: String
    ) -> Option<Root> where Value: PluginOptions {
        members(name, path, kind: .object(Value.summaries), help: help, example: example) { value, context in
            let (decoded, problems) = Value.decode(value, owner: value, context: context)
            return problems.isEmpty ? .value(decoded) : .problems(problems)
        }
    }

    static func counts<Root: PluginOptions>(
        _ name: String, _ path: FeedbusPlugin.OptionPath<Root, [NamedValue]>, help: String, example: String
    ) -> Option<Root> where Value == Int {
        members(name, path, kind: .integer(0...Int.max), help: help, example: example) { value, _ in
            guard case .number(let text) = value.content, let count = Int(text), count >= 0 else {
                return .problems([value.problem("a count is a whole number from 0", code: "wrong-type")])
            }
            return .value(count)
        }
    }

    private static func members<Root: PluginOptions>(
        _ name: String, _ path: FeedbusPlugin.OptionPath<Root, [NamedValue]>, kind: OptionKind, help: String,
        example: String, read: @escaping @Sendable (PositionedValue, OptionContext) -> OptionReading<Value>
    ) -> Option<Root> {
        .custom(
            name, path, kind: .map(kind), help: help, example: example, show: { _ in nil },
            read: { value, context in
                guard let members = value.members else {
                    return .problems([
                        value.problem("\"\(name)\" must be an object, found \(value.kindName)", code: "wrong-type")
                    ])
                }
                var values: [NamedValue] = []
                var problems: [ConfigProblem] = []
                for member in members {
                    switch read(member.value, context) {
                    case .value(let value):
                        values.append(NamedValue(name: member.key, value: value, place: member.value))
                    case .problems(let found): problems += found
                    }
                }
                return problems.isEmpty ? .value(values) : .problems(problems)
            })
    }
}

/// What stands in for a program.
struct StandIn: PluginOptions {
    enum Separator: String, Sendable, CaseIterable {
        case line, nul

        var text: String { self == .line ? "\n" : "\0" }
    }

    var prints: String?
    var separator = Separator.line
    var answers: [NamedValue<StandInAnswer>] = []

    static let options: [Option<StandIn>] = [
        .string("prints", \.prints, accepts: { _ in true }, help: "it prints this and ends"),
        .choice("separator", \.separator, help: "what ends each piece of its input"),
        .custom(
            "answers", \.answers, kind: .map(.string),
            help: "what it answers to a piece of its input; anything else comes back as it is", show: { _ in nil },
            read: { value, _ in
                guard let members = value.members, members.allSatisfy({ $0.value.string != nil }) else {
                    return .problems([
                        value.problem("\"answers\" must be an object of texts", code: "wrong-type")
                    ])
                }
                return .value(
                    members.map {
                        NamedValue(name: $0.key, value: StandInAnswer(text: $0.value.string ?? ""), place: $0.value)
                    })
            }),
    ]
}

struct StandInAnswer: Sendable {
    var text: String
}

/// How the events that a sink got are compared with those that were expected.
struct SinkExpectation: PluginOptions {
    enum Order: String, Sendable, CaseIterable { case exact, any }

    enum Events: Sendable {
        case file(String)
        case list([PositionedValue])
    }

    var events: Events?
    var order = Order.exact
    var ignore: [String]?
    var only: [String]?
    var count: Int?

    static let options: [Option<SinkExpectation>] = [
        .custom(
            "events", \.events, kind: .either([.string, .list(.object([]))]),
            help: "the events, as CloudEvents objects: a file of JSON lines, or a list", example: "\"expected.jsonl\"",
            show: { _ in nil },
            read: { value, _ in
                if let file = value.string, !file.isEmpty { return .value(.file(file)) }
                guard let elements = value.elements, elements.allSatisfy({ $0.members != nil }) else {
                    return .problems([
                        value.problem("\"events\" must be a file's path or a list of objects", code: "wrong-type")
                    ])
                }
                return .value(.list(elements))
            }),
        .choice("order", \.order, help: "whether they must come in this order"),
        .strings(
            "ignore", \.ignore, pattern: "a JSON pointer such as \"/time\"", accepts: { JSONPointer($0) != nil },
            help: "what is not compared", example: "[\"/time\", \"/data/created_at\"]"
        ).synonyms("except", "without"),
        .strings(
            "only", \.only, pattern: "a JSON pointer such as \"/id\"", accepts: { JSONPointer($0) != nil },
            help: "what is compared; without it, all", example: "[\"/id\", \"/type\"]"),
        .integer("count", \.count, in: 0...Int.max, help: "how many events come"),
    ]
}
