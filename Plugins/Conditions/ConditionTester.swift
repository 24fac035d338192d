// feedbus: answers a condition for the events of one stage.

public import FeedbusPlugin

/// A condition at work in one stage. To be asked by one caller at a time.
public struct ConditionTester: Sendable {
    /// The answer for one event.
    public typealias Verdict = JQRunner.Verdict

    private enum Form: Sendable {
        case fast(FastCondition)
        case jq(JQRunner)
    }

    private let form: Form
    private let scope: EventScope

    /// - Parameter limit: how long jq may work on one event.
    public init(
        _ condition: EventCondition, on scope: EventScope, context: PluginContext, limit: Duration = .seconds(5)
    ) {
        self.scope = scope
        switch condition.form {
        case .fast(let condition): form = .fast(condition)
        case .jq(let expression): form = .jq(JQRunner(expression, context: context, limit: limit))
        }
    }

    /// The answer, where it needs no jq: at once, and without a fault.
    public func immediate(_ event: Event) -> Bool? {
        guard case .fast(let condition) = form else { return nil }
        return condition.holds(for: scope.text(of: event))
    }

    /// The answer for each event; jq works on the thread pool.
    public func verdicts(for events: Chunk<Event>) async throws -> [Verdict] {
        switch form {
        case .fast(let condition): events.map { .value(condition.holds(for: scope.text(of: $0))) }
        case .jq(let runner): try await runner.verdicts(for: events, on: scope)
        }
    }

    /// The events for which the condition holds: the chunk itself, or a slice of it, where that says it.
    ///
    /// Events on which jq fails are given up, as `on_error` says.
    public func filter(_ events: Chunk<Event>, _ context: PluginContext) async throws -> Chunk<Event> {
        switch form {
        case .fast(let condition):
            if scope == .data { return events.keeping(by: condition.finder) { condition.tree.holds($0) } }
            return events.keeping { condition.holds(for: scope.text(of: events[$0])) }
        case .jq(let runner):
            let verdicts = try await runner.verdicts(for: events, on: scope)
            for (index, verdict) in verdicts.enumerated() {
                if case .failed(let reason) = verdict { try context.giveUp(on: events[index], reason: reason) }
            }
            return events.keeping { index in
                if case .value(true) = verdicts[index] { true } else { false }
            }
        }
    }
}
