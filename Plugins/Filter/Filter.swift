// feedbus: a stage that passes the events for which a condition holds.

import Conditions
public import FeedbusPlugin

public struct FilterOptions: PluginOptions {
    var condition: EventCondition?
    var scope = EventScope.data
    var limit: Duration = .seconds(5)

    public init() {}

    public static let options: [Option<FilterOptions>] = [
        .condition(
            "where", \.condition, required: true, help: "which events pass: a jq expression, or a condition object",
            example: "{ \"pointer\": \"/type\", \"in\": [\"PushEvent\", \"ForkEvent\"] }"
        ).synonyms("condition", "if", "jq", "when", "filter", "expression"),
        .scope(\.scope),
        .timeLimit(\.limit),
    ]
}

/// Passes the events for which a condition holds; what it leaves out counts as delivered. Rx: `filter`.
public actor Filter: ChunkStage {
    public static let name = "Filter"
    public static let summary = "passes the events for which a condition holds"
    public static let allowsWorkers = true

    public nonisolated let context: PluginContext
    private let tester: ConditionTester

    public init(options: FilterOptions, context: PluginContext) {
        guard let condition = options.condition else { preconditionFailure("a required option is there") }
        self.context = context
        tester = ConditionTester(condition, on: options.scope, context: context, limit: options.limit)
    }

    public func process(_ events: Chunk<Event>) async throws -> Chunk<Event> {
        try await tester.filter(events, context)
    }
}
