// feedbus: a stage that sends each event on the route that it belongs to.

public import FeedbusPlugin

/// Sends events on named routes by conditions. Rx: several `filter`s of one shared flow, or `groupBy`.
public actor Switch: RoutingStage {
    public static let name = "Switch"
    public static let summary = "sends each event on the named routes whose conditions hold"

    public nonisolated let context: PluginContext
    private let conditions: [EventCondition]
    private let mode: SwitchOptions.Mode

    public static func routes(of options: SwitchOptions) -> [String] { options.routes.map(\.name) }

    public init(options: SwitchOptions, context: PluginContext) {
        self.context = context
        mode = options.mode
        conditions = options.routes.map(\.condition)
    }

    public func route(_ events: Chunk<Event>) async throws -> [Chunk<Event>] {
        // For each route which events take it; the last one takes what is left.
        var takers = Array(repeating: [Int](), count: conditions.count + 1)
        var isTaken = Array(repeating: false, count: events.count)
        /// Events whose fate is open.
        var open = Array(events.indices)
        for (route, condition) in conditions.enumerated() where !open.isEmpty {
            for index in open where condition.holds(for: events[index]) {
                takers[route].append(index)
                isTaken[index] = true
            }
            if mode == .first { open.removeAll { isTaken[$0] } }
        }
        takers[conditions.count] = events.indices.filter { !isTaken[$0] }
        return takers.map { $0.count == events.count ? events : Chunk($0.map { events[$0] }) }
    }
}
