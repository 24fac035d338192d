// feedbus: the four sections that hold nodes.

import FeedbusPlugin

/// A section of the config whose members are nodes of the graph.
package enum NodeSection: String, Sendable, CaseIterable {
    case sources, stages, subjects, sinks

    /// `a source`, for messages.
    var label: String { "a " + rawValue.dropLast() }

    /// The kind of plugin that runs its nodes; nil for subjects, which feedbus itself runs.
    var pluginKind: PluginKind? {
        switch self {
        case .sources: .source
        case .stages: .stage
        case .sinks: .sink
        case .subjects: nil
        }
    }

    /// The fields of its nodes.
    var fields: [OptionSummary] {
        switch self {
        case .sources: NodeFields<SourceNode>.summaries
        case .stages: NodeFields<StageNode>.summaries
        case .sinks: NodeFields<SinkNode>.summaries
        case .subjects: SubjectFields.summaries
        }
    }

    /// What the section is for, for the schema.
    var help: String {
        switch self {
        case .sources: "what emits events"
        case .stages: "what turns a flow of events into another"
        case .subjects: "named points that many can read, with replay for late readers"
        case .sinks: "what takes the events"
        }
    }

    /// A name that a node may have: `[a-z][a-z0-9_-]*`.
    static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first) else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
    }

    static let namePattern = "^[a-z][a-z0-9_-]*$"
}
