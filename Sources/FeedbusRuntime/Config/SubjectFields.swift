// feedbus: the fields of a subject, and what a durable one keeps.

import FeedbusBase
import FeedbusFlow
import FeedbusJSON
import FeedbusPlugin
import FeedbusStore

/// Where the events of a subject are kept.
enum SubjectStore: String, Sendable, CaseIterable { case memory, disk }

/// The fields of a subject.
struct SubjectFields: PluginOptions {
    var from: [PositionedValue] = []
    var replay = 0
    var scope = SubjectScope.whileConnected
    var store = SubjectStore.memory
    var retain = RetainFields()
    var limit = LimitFields()

    static let options: [Option<SubjectFields>] = [
        .from(\.from, "the nodes whose events it shares"),
        .integer(
            "replay", \.replay, in: 0...1_000_000, help: "how many of the last events a new reader gets first",
            example: "50"),
        .choice(
            "scope", \.scope, help: "whether the replay is forgotten when the last reader goes, or kept for good",
            example: "\"forever\""),
        .choice(
            "store", \.store,
            help:
                "memory: events are kept for as long as the program runs; disk: in a log in the state folder, each reader"
                + " goes on at its own place after a restart", example: "\"disk\""
        ).synonyms("storage", "durable"),
        .object(
            "retain", \.retain, help: "store \"disk\": what stays in the log of events that every reader has had",
            example: "{ \"events\": 10000, \"age\": \"7d\" }"
        ).synonyms("retention", "keep"),
        .object(
            "limit", \.limit, help: "store \"disk\": the largest size of the log, and what happens then",
            example: "{ \"bytes\": \"10GiB\" }"),
    ]

    /// Nil for a subject in memory.
    var retention: Retention? {
        guard store == .disk else { return nil }
        var retention = Retention()
        retention.events = retain.events
        retention.bytes = retain.bytes
        retention.age = retain.age
        retention.replay = replay
        retention.limit = limit.bytes
        retention.whenFull = limit.whenFull
        return retention
    }

    /// What does not go together.
    func contradictions(in node: PositionedValue) -> [ConfigProblem] {
        switch store {
        case .memory:
            return ["retain", "limit"].compactMap { name in
                node[name].map {
                    $0.problem(
                        "\"\(name)\" is for a subject on disk: add \"store\": \"disk\", or leave it out",
                        code: "contradiction")
                }
            }
        case .disk:
            guard scope == .whileConnected, let place = node["scope"] else { return [] }
            return [
                place.problem(
                    "a subject with \"store\": \"disk\" keeps its events when the last reader goes; write \"forever\" or leave"
                        + " \"scope\" out", code: "contradiction")
            ]
        }
    }
}

/// `"retain": { … }`
struct RetainFields: PluginOptions {
    var events = Retention().events
    var bytes = Retention().bytes
    var age: Duration?

    static let options: [Option<RetainFields>] = [
        .integer(
            "events", \.events, in: 0...1_000_000_000, help: "at most so many of the newest; the replay always stays",
            example: "10000"),
        .size("bytes", \.bytes, in: 0...(1 << 50), help: "at most so many bytes of events", example: "\"1GiB\""),
        .duration(
            "age", \.age, in: .seconds(1)...(.seconds(3_650 * 86_400)),
            help: "none older than this; without it age does not count", example: "\"7d\""),
    ]
}

/// `"limit": { … }`
struct LimitFields: PluginOptions {
    var bytes = Retention().limit
    var whenFull = Retention().whenFull

    static let options: [Option<LimitFields>] = [
        .size(
            "bytes", \.bytes, in: (64 << 10)...(1 << 50),
            help: "the log is never larger, in bytes of events", example: "\"10GiB\""
        ).synonyms("max_bytes", "size"),
        .choice(
            "when_full", \.whenFull,
            help:
                "when a reader is so far behind that nothing may go: block: the sources wait; drop_oldest: it misses the"
                + " oldest events, counted", example: "\"drop_oldest\""
        ).synonyms("overflow", "policy"),
    ]
}
