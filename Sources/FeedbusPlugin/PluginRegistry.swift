// feedbus: the plugins that a program knows, as a value.

import FeedbusBase
import FeedbusJSON

/// What a plugin is: what it does to a flow of events.
public enum PluginKind: String, Sendable, CaseIterable {
    case source, stage, sink

    /// The section of the config.
    public var section: String { rawValue + "s" }
}

/// How a stage is wired into the graph.
public enum StageForm: Sendable, Equatable {
    /// One flow in, one out; `workers` of the node may be above 1 where it says so.
    case one(allowsWorkers: Bool)
    /// Each node that it reads is a flow of its own; it reads at least two.
    case join
    /// Each of its routes is read by its own name.
    case routing
}

/// A plugin of any type, as far as the runtime and the command line need to know it.
public struct PluginDescription: Sendable {
    public var name: String
    public var kind: PluginKind
    public var summary: String
    public var options: [OptionSummary]
    /// How a stage is wired; nil for the other kinds.
    public var form: StageForm?
    /// A stage whose answer to a chunk is ready when its call returns.
    package var answersChunks: Bool
    /// A join that takes its inputs one after the other.
    package var readsInTurn: Bool
    package var headline: @Sendable (Event) -> String?
    /// Decodes and checks the options of a node, and gives what makes the plugin; all problems at once.
    package var prepare:
        @Sendable (_ checking: OptionCheck, _ context: OptionContext) -> (PreparedPlugin?, [ConfigProblem])
}

/// A plugin whose options are decoded, ready to be made.
package enum PreparedPlugin: Sendable {
    case source(@Sendable (PluginContext) throws -> any Source)
    case stage(@Sendable (PluginContext) throws -> any Stage)
    case join(@Sendable (PluginContext) throws -> any JoinStage)
    case routing(routes: [String], @Sendable (PluginContext) throws -> any RoutingStage)
    case sink(@Sendable (PluginContext) throws -> any Sink)
}

/// The list of plugins that a config may name. A value: tests and programs of your own make theirs.
public struct PluginRegistry: Sendable {
    public private(set) var plugins: [PluginDescription] = []

    public init() {}

    /// The plugin of a kind and name; Exec is there three times, as source, stage and sink.
    public func plugin(_ name: String, _ kind: PluginKind) -> PluginDescription? {
        plugins.first { $0.name == name && $0.kind == kind }
    }

    public mutating func add<Plugin: Source>(_ type: Plugin.Type) {
        add(type, .source, nil) { options in .source { try Plugin(options: options, context: $0) } }
    }

    public mutating func add<Plugin: Stage>(_ type: Plugin.Type) {
        let allowsWorkers = (type as? any ChunkStage.Type)?.allowsWorkers ?? false
        add(type, .stage, .one(allowsWorkers: allowsWorkers)) { options in
            .stage { try Plugin(options: options, context: $0) }
        }
    }

    public mutating func add<Plugin: JoinStage>(_ type: Plugin.Type) {
        add(type, .stage, .join) { options in .join { try Plugin(options: options, context: $0) } }
    }

    public mutating func add<Plugin: RoutingStage>(_ type: Plugin.Type) {
        add(type, .stage, .routing) { options in
            .routing(routes: Plugin.routes(of: options)) { try Plugin(options: options, context: $0) }
        }
    }

    public mutating func add<Plugin: Sink>(_ type: Plugin.Type) {
        add(type, .sink, nil) { options in .sink { try Plugin(options: options, context: $0) } }
    }

    private mutating func add<P: Plugin>(
        _ type: P.Type, _ kind: PluginKind, _ form: StageForm?,
        _ make: @escaping @Sendable (P.Options) -> PreparedPlugin
    ) {
        precondition(plugin(P.name, kind) == nil, "two \(kind.rawValue) plugins are named \(P.name)")
        plugins.append(
            PluginDescription(
                name: P.name, kind: kind, summary: P.summary, options: P.Options.summaries, form: form,
                answersChunks: type is any ChunkStage.Type || form == .routing,
                readsInTurn: (type as? any JoinStage.Type)?.readsInTurn ?? false, headline: { P.headline(of: $0) },
                prepare: { checking, context in
                    let (options, problems) = P.Options.decode(
                        checking.node["with"], owner: checking.node, context: context)
                    guard problems.isEmpty else { return (nil, problems) }
                    P.check(options, checking)
                    return checking.problems.isEmpty ? (make(options), []) : (nil, checking.problems)
                }))
    }
}
