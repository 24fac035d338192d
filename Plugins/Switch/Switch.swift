// feedbus: a stage that sends each event on the route that it belongs to.

import Conditions
public import FeedbusPlugin

/// Sends events on named routes by conditions. Rx: several `filter`s of one shared flow, or `groupBy`.
public actor Switch: RoutingStage {
    public static let name = "Switch"
    public static let summary = "sends each event on the named routes whose conditions hold"

    public nonisolated let context: PluginContext
    private let testers: [ConditionTester]
    private let mode: SwitchOptions.Mode

    public static func routes(of options: SwitchOptions) -> [String] { options.routes.map(\.name) }

    public init(options: SwitchOptions, context: PluginContext) {
        self.context = context
        mode = options.mode
        testers = options.routes.map {
            ConditionTester($0.condition, on: options.scope, context: context, limit: options.limit)
        }
    }

    public func route(_ events: Chunk<Event>) async throws -> [Chunk<Event>] {
        var sorting = Sorting(events, routes: testers.count)
        for (route, tester) in testers.enumerated() where !sorting.open.isEmpty {
            if tester.immediate(events[sorting.open[0]]) == nil {
                let verdicts = try await tester.verdicts(for: sorting.openEvents)
                for (index, verdict) in zip(sorting.open, verdicts) {
                    switch verdict {
                    case .value(true): sorting.take(index, by: route)
                    case .value(false): break
                    case .failed(let reason): sorting.fail(index, reason)
                    }
                }
            } else {
                for index in sorting.open where tester.immediate(events[index]) == true {
                    sorting.take(index, by: route)
                }
            }
            sorting.closeRoute(takesAway: mode == .first)
        }
        for (index, reason) in sorting.failures { try context.giveUp(on: events[index], reason: reason) }
        return sorting.parts
    }
}
