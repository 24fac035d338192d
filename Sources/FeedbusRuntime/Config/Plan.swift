// feedbus: a config that has passed every check, as values: what the graph is built from.

import FeedbusBase
import FeedbusFlow
import FeedbusPlugin
import FeedbusStore

/// A whole config, checked.
package struct Plan: Sendable {
    package var settings: Settings
    /// Sources, subjects, stages and sinks, each after all nodes that it reads.
    package var nodes: [PlannedNode]

    package init(settings: Settings, nodes: [PlannedNode]) {
        self.settings = settings
        self.nodes = nodes
    }
}

/// The sections `feedbus` and `http`, and what the command line changes of them.
package struct Settings: Sendable {
    /// The folder of the config file, absolute.
    package var directory = "."
    /// The folder that holds cursors and logs, absolute.
    package var state = "var"
    package var shutdownGrace: Duration = .seconds(10)
    /// How many loops, each on a thread of its own, host the nodes, 1...64.
    package var loops = 1
    package var logLevel: LogLevel = .info
    package var logFormat: LogFormat = .text
    package var supervision = SupervisionPolicy()
    package var deadLetters = DeadLetterCap()
    package var userAgent: String?
    /// The recording that answers for services out of reach, absolute; nil without one.
    package var offlineRecording: String?

    package init() {}
}

package enum LogFormat: String, Sendable, CaseIterable { case text, json }

/// When a node that fails again and again is given up.
package struct SupervisionPolicy: Sendable, Equatable {
    /// 0...1000
    package var maxRestarts = 10
    package var within: Duration = .seconds(600)

    package init() {}
}

/// The buffer in front of a stage or sink.
package struct BufferPlan: Sendable, Equatable {
    /// 1...1_000_000
    package var events = 1_024
    /// At most so many bytes of events wait (a single larger one is let through alone).
    package var bytes = 16 << 20
    package var whenFull = OverflowPolicy.block

    package init() {}
}

/// Where a reader of a durable subject begins at a start.
package enum ResumePoint: String, Sendable, CaseIterable {
    /// Behind the last event that it has had.
    case place
    /// With the subject's last `replay` events, as if it were new; earlier, where it has not had all before them.
    case replay
}

/// One node of the graph. `buffer`, `retry` and what else `Rules` has are its own members too.
@dynamicMemberLookup
package struct PlannedNode: Sendable {
    package enum Role: Sendable {
        case source(@Sendable (PluginContext) throws -> any Source)
        case stage(@Sendable (PluginContext) throws -> any Stage)
        case join(@Sendable (PluginContext) throws -> any JoinStage)
        case routing(routes: [String], @Sendable (PluginContext) throws -> any RoutingStage)
        case sink(@Sendable (PluginContext) throws -> any Sink)
        case subject(replay: Int, scope: SubjectScope)
    }

    package var name: String
    /// `Jokes`; nil for a subject.
    package var plugin: String?
    package var role: Role
    /// The nodes that it reads, in the order of the config; a route as `node.route`.
    package var from: [String]
    private var rules: Boxed<Rules>

    /// What most nodes leave as it is: those share one, as there may be thousands.
    package struct Rules: Sendable, Equatable {
        package var buffer = BufferPlan()
        package var retry = RetryPolicy()
        package var onError = ErrorPolicy.pass
        /// How many instances of a stage share the work, 1...64; their output keeps the order of the input.
        package var workers = 1
        /// How long one call of a stage or sink may take; nil: as long as it likes.
        package var timeout: Duration?
        /// Where it begins in the durable subjects that it reads.
        package var resume = ResumePoint.place
        /// What the log of a durable subject keeps; nil for any other node.
        package var retention: Retention?
    }

    private static let usual = Boxed(Rules())

    /// The route, beside those of a routing stage, of what none of them took.
    package static let unmatched = "unmatched"

    package init(
        name: String, plugin: String?, role: Role, from: [String] = [], buffer: BufferPlan = BufferPlan(),
        retry: RetryPolicy = RetryPolicy(), onError: ErrorPolicy = .pass, workers: Int = 1,
        timeout: Duration? = nil, resume: ResumePoint = .place, retention: Retention? = nil
    ) {
        self.name = name
        self.plugin = plugin
        self.role = role
        self.from = from
        let rules = Rules(
            buffer: buffer, retry: retry, onError: onError, workers: workers, timeout: timeout, resume: resume,
            retention: retention)
        self.rules = rules == Self.usual.value ? Self.usual : Boxed(rules)
    }

    package subscript<Rule>(dynamicMember path: WritableKeyPath<Rules, Rule>) -> Rule {
        get { rules[dynamicMember: path] }
        set { rules[dynamicMember: path] = newValue }
    }
}
