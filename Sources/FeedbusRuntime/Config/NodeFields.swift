// feedbus: the fields that a node has beside its plugin's own options.

import FeedbusBase
import FeedbusFlow
import FeedbusJSON
import FeedbusPlugin

/// Says which fields the nodes of a section have.
protocol NodeKind: Sendable {
    /// Stored, because a generic type cannot: making them anew for every node would be most of the work of reading a
    /// config with many.
    static var fields: [Option<NodeFields<Self>>] { get }
}

enum SourceNode: NodeKind {
    static let fields = NodeFields<SourceNode>.named("plugin", "with", "retry")
}

enum StageNode: NodeKind {
    static let fields = NodeFields<StageNode>.named(
        "plugin", "from", "with", "resume", "buffer", "retry", "timeout", "on_error", "workers")
}

enum SinkNode: NodeKind {
    static let fields = NodeFields<SinkNode>.named("plugin", "from", "with", "resume", "buffer", "retry", "timeout")
}

/// The fields of sources, stages and sinks. Each field is declared once; a kind has those that it names.
struct NodeFields<Kind: NodeKind>: PluginOptions {
    var plugin = ""
    /// The elements as they stand, so that an error can point at one.
    var from: [PositionedValue] = []
    /// Left to the plugin.
    var with: PositionedValue?
    var resume = ResumePoint.place
    var buffer = BufferFields()
    var retry = RetryFields()
    var timeout: Duration?
    var onError = ErrorPolicy.pass
    var workers = 1

    static var options: [Option<NodeFields>] { Kind.fields }

    fileprivate static func named(_ names: String...) -> [Option<NodeFields>] {
        all.filter { names.contains($0.summary.name) }
    }

    private static var all: [Option<NodeFields>] {
        [
            .string("plugin", \.plugin, required: true, help: "the plugin that runs the node", example: "\"Jokes\""),
            .from(\.from, "the nodes whose events it takes"),
            .custom("with", \.with, kind: .object([]), help: "the plugin's own options", show: { _ in nil }) {
                value, _ in
                .value(value)
            }.synonyms("options", "config", "settings"),
            .choice(
                "resume", \.resume,
                help:
                    "where a start begins in a subject on disk; place: where the node ended; replay: with the subject's last"
                    + " \"replay\" events again, for what shows them to people", example: "\"replay\""
            ).synonyms("start", "begin", "position"),
            .object(
                "buffer", \.buffer, help: "what may wait in front of the node",
                example: "{ \"events\": 4096, \"when_full\": \"drop_oldest\" }"),
            .object(
                "retry", \.retry, help: "how often, and after what pause, a failed request or write is tried again",
                example: "{ \"attempts\": 3, \"base\": \"500ms\" }"),
            .duration(
                "timeout", \.timeout, in: .milliseconds(100)...(.seconds(86_400)),
                help:
                    "a call of the node that takes longer is cancelled and counts as failed; else it may take as long as it"
                    + " likes", example: "\"30s\""
            ).synonyms("deadline", "time_limit", "max_time"),
            .choice(
                "on_error", \.onError, help: "what becomes of an event that the stage cannot treat", example: "\"drop\""
            ),
            .integer(
                "workers", \.workers, in: 1...64,
                help: "how many instances of the stage share the work; the order of the events is kept", example: "2"
            ).synonyms("instances", "parallelism", "concurrency", "threads"),
        ]
    }
}

/// `"buffer": { … }`
struct BufferFields: PluginOptions {
    var events = BufferPlan().events
    var bytes = BufferPlan().bytes
    var whenFull = BufferPlan().whenFull

    static let options: [Option<BufferFields>] = [
        .integer("events", \.events, in: 1...1_000_000, help: "at most so many events wait", example: "4096")
            .synonyms("size", "max_events", "capacity"),
        .size("bytes", \.bytes, in: 1...(1 << 40), help: "at most so many bytes of events wait", example: "\"64MiB\"")
            .synonyms("max_bytes", "max_size"),
        .choice(
            "when_full", \.whenFull,
            help: "block: the sources wait; drop_oldest, drop_newest: an event goes, counted;"
                + " latest: only the newest event waits; fail: the node fails", example: "\"drop_oldest\""
        ).synonyms("overflow", "policy"),
    ]

    var plan: BufferPlan {
        var plan = BufferPlan()
        plan.events = events
        plan.bytes = bytes
        plan.whenFull = whenFull
        return plan
    }
}

/// `"retry": { … }`
struct RetryFields: PluginOptions {
    enum Jitter: String, Sendable, CaseIterable { case full, none }

    var attempts = RetryPolicy().attempts
    var base = RetryPolicy().base
    var cap = RetryPolicy().cap
    var jitter = Jitter.full

    static let options: [Option<RetryFields>] = [
        .integer("attempts", \.attempts, in: 1...100, help: "tries in all, the first one included", example: "3")
            .synonyms("max_attempts", "retries", "max_retries", "tries"),
        .duration(
            "base", \.base, in: .milliseconds(10)...(.seconds(3_600)),
            help: "the longest pause before the second try; it doubles with each further one", example: "\"500ms\""
        ).synonyms("initial", "delay", "backoff", "initial_interval"),
        .duration(
            "cap", \.cap, in: .milliseconds(10)...(.seconds(86_400)), help: "no pause is longer", example: "\"5m\""
        ).synonyms("max", "max_delay", "max_interval"),
        .choice(
            "jitter", \.jitter, help: "full: a pause is drawn from zero to its longest; none: always the longest",
            example: "\"none\""),
    ]

    var policy: RetryPolicy { RetryPolicy(attempts: attempts, base: base, cap: cap, jitter: jitter == .full) }
}

extension Option where Root: PluginOptions {
    /// The `from` of a node. Its elements are looked up when all nodes are known.
    static func from(_ path: OptionPath<Root, [PositionedValue]>, _ help: String) -> Option {
        custom(
            "from", path, kind: .list(.string), required: true, help: help, example: "[\"jokes\"]", show: { _ in nil }
        ) { value, _ in
            if let elements = value.elements { return .value(elements) }
            let hint = value.string.map { ": write [\"\($0)\"]" } ?? ""
            return .problems([
                value.problem(
                    "\"from\" must be a list of node names, found \(value.kindName)\(hint)", code: "wrong-type")
            ])
        }.synonyms("input", "inputs", "source", "sources", "reads")
    }
}

extension PositionedValue {
    /// A text with its quotes, else what kind of value it is.
    var shown: String { string.map { "\"\($0)\"" } ?? kindName }
}
