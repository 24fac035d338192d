// feedbus: the options of the sections `feedbus` and `http`.

import FeedbusBase
import FeedbusPlugin
import FeedbusStore

/// `"feedbus": { … }`
struct FeedbusSection: PluginOptions {
    var state = "var"
    var shutdownGrace: Duration = .seconds(10)
    var loops = 1
    var log = LogSection()
    var supervision = SupervisionSection()
    var deadLetters = DeadLettersSection()

    static let options: [Option<FeedbusSection>] = [
        .string(
            "state", \.state,
            help: "folder that holds cursors, logs and dead letters; a relative path counts from the config's folder",
            example: "\"/var/lib/feedbus\""),
        .duration(
            "shutdown_grace", \.shutdownGrace, in: .zero...(.seconds(3_600)),
            help: "how long a stop may take to drain what is under way", example: "\"30s\""
        ).synonyms("grace", "shutdown_timeout", "drain_timeout"),
        .integer(
            "loops", \.loops, in: 1...64,
            help: "how many threads share the nodes: the first has the sources, the others the stages and sinks",
            example: "2"
        ).synonyms("threads", "cores"),
        .object("log", \.log, help: "the log on stderr", example: "{ \"level\": \"debug\" }").synonyms("logging"),
        .object(
            "supervision", \.supervision, help: "when a node that fails again and again is given up",
            example: "{ \"max_restarts\": 5, \"within\": \"1m\" }"
        ).synonyms("restart", "restarts"),
        .object(
            "dead_letters", \.deadLetters, help: "how many events are kept that a node could not treat",
            example: "{ \"max_events\": 1000, \"when_full\": \"drop_oldest\" }"
        ).synonyms("dead_letter", "dlq"),
    ]
}

/// `"log": { … }`
struct LogSection: PluginOptions {
    var level = LogLevelName.info
    var format = LogFormat.text

    static let options: [Option<LogSection>] = [
        .choice("level", \.level, help: "the least important record that is written", example: "\"debug\""),
        .choice("format", \.format, help: "text for people, or one JSON object a line", example: "\"json\""),
    ]
}

/// A log level as the config and the command line spell it.
package enum LogLevelName: String, Sendable, CaseIterable {
    case trace, debug, info, warning, error

    package var level: LogLevel {
        switch self {
        case .trace: .trace
        case .debug: .debug
        case .info: .info
        case .warning: .warning
        case .error: .error
        }
    }
}

/// `"supervision": { … }`
struct SupervisionSection: PluginOptions {
    var maxRestarts = SupervisionPolicy().maxRestarts
    var within = SupervisionPolicy().within

    static let options: [Option<SupervisionSection>] = [
        .integer(
            "max_restarts", \.maxRestarts, in: 0...1_000,
            help: "a node that fails more often than this within the time is given up", example: "5"),
        .duration(
            "within", \.within, in: .seconds(1)...(.seconds(7 * 86_400)),
            help: "the time in which restarts are counted",
            example: "\"1h\""),
    ]

    var policy: SupervisionPolicy {
        var policy = SupervisionPolicy()
        policy.maxRestarts = maxRestarts
        policy.within = within
        return policy
    }
}

/// `"dead_letters": { … }`
struct DeadLettersSection: PluginOptions {
    var maxEvents = DeadLetterCap().events
    var maxBytes = DeadLetterCap().bytes
    var whenFull = DeadLetterCap().whenFull

    static let options: [Option<DeadLettersSection>] = [
        .integer(
            "max_events", \.maxEvents, in: 0...100_000_000, help: "at most so many, of all nodes", example: "1000"
        ).synonyms("events"),
        .size("max_bytes", \.maxBytes, in: 0...(1 << 50), help: "at most so many bytes", example: "\"1GiB\"")
            .synonyms("bytes"),
        .choice(
            "when_full", \.whenFull,
            help:
                "block: no more are taken, the events are left undelivered and come again at the next start; drop_oldest,"
                + " drop_newest: a letter goes, counted", example: "\"drop_oldest\""
        ).synonyms("overflow", "policy"),
    ]

    var cap: DeadLetterCap {
        var cap = DeadLetterCap()
        cap.events = maxEvents
        cap.bytes = maxBytes
        cap.whenFull = whenFull
        return cap
    }
}

/// `"http": { … }`
struct HTTPSection: PluginOptions {
    var userAgent: String?
    var offline: String?

    static let options: [Option<HTTPSection>] = [
        .string(
            "user_agent", \.userAgent, pattern: "text without line breaks",
            accepts: { !$0.isEmpty && $0.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F } },
            help: "what services are told of who asks; some want a way to reach you",
            example: "\"feedbus (+https://github.com/you/yours)\""
        ).synonyms("agent"),
        .string(
            "offline", \.offline, help: "recording (HAR 1.2) that answers where a service cannot be reached",
            example: "\"Recordings/demo.har\""
        ).synonyms("recording", "replay"),
    ]
}
