// feedbus: a condition on events, as configs write it.

public import FeedbusPlugin

/// A condition on an event: a jq expression, or one of the fast forms, which look at the text itself.
///
///     ".type == \"PushEvent\""
///     { "pointer": "/type", "in": ["PushEvent", "ForkEvent"] }
///     { "all": [{ "pointer": "/size", "greater": 3 }, { "not": { "pointer": "/actor/login", "contains": "bot" } }] }
///
/// The fast forms compare numbers by their exact values, whatever their length, and strings after decoding.
public struct EventCondition: Sendable {
    enum Form: Sendable {
        case jq(JQExpression)
        case fast(FastCondition)
    }

    let form: Form

    /// A value of a config as a condition; all problems at once.
    public static func read(_ name: String, _ value: PositionedValue) -> OptionReading<EventCondition> {
        switch value.content {
        case .string:
            switch JQExpression.read(name, value) {
            case .value(let expression): return .value(EventCondition(form: .jq(expression)))
            case .problems(let problems): return .problems(problems)
            }
        case .object:
            var reading = ConditionReading()
            guard let condition = reading.read(value) else { return .problems(reading.problems) }
            return .value(EventCondition(form: .fast(condition)))
        default:
            return .problems([
                value.problem(
                    "\"\(name)\" must be a jq expression, or an object such as"
                        + " { \"pointer\": \"/type\", \"equals\": \"PushEvent\" }, found \(value.kindName)",
                    code: "wrong-type")
            ])
        }
    }

    /// What an option takes that is a condition.
    public static let kind = OptionKind.either([.string, .json(.object, "condition object")])
}

extension Option where Root: PluginOptions {
    /// A condition.
    public static func condition(
        _ name: String, _ path: OptionPath<Root, EventCondition?>, required: Bool = false, help: String, example: String
    ) -> Option {
        .custom(
            name, path, kind: EventCondition.kind, required: required, help: help, example: example, show: { _ in nil },
            read: { value, _ in
                switch EventCondition.read(name, value) {
                case .value(let condition): .value(condition)
                case .problems(let problems): .problems(problems)
                }
            })
    }
}
