// feedbus: a member of an object whose names are the user's own.

import FeedbusJSON
import FeedbusPlugin

/// A member of an object whose names are the user's own.
struct NamedValue<Value: Sendable>: Sendable {
    var name: String
    var value: Value
    var place: PositionedValue

    static func option<Root: PluginOptions>(
        _ name: String, _ path: FeedbusPlugin.OptionPath<Root, [NamedValue]>, help: String, example: String
    ) -> Option<Root> where Value: PluginOptions {
        members(name, path, kind: .object(Value.summaries), help: help, example: example) { value, context in
            let (decoded, problems) = Value.decode(value, owner: value, context: context)
            return problems.isEmpty ? .value(decoded) : .problems(problems)
        }
    }

    static func counts<Root: PluginOptions>(
        _ name: String, _ path: FeedbusPlugin.OptionPath<Root, [NamedValue]>, help: String, example: String
    ) -> Option<Root> where Value == Int {
        members(name, path, kind: .integer(0...Int.max), help: help, example: example) { value, _ in
            guard case .number(let text) = value.content, let count = Int(text), count >= 0 else {
                return .problems([value.problem("a count is a whole number from 0", code: "wrong-type")])
            }
            return .value(count)
        }
    }

    private static func members<Root: PluginOptions>(
        _ name: String, _ path: FeedbusPlugin.OptionPath<Root, [NamedValue]>, kind: OptionKind, help: String,
        example: String, read: @escaping @Sendable (PositionedValue, OptionContext) -> OptionReading<Value>
    ) -> Option<Root> {
        .custom(
            name, path, kind: .map(kind), help: help, example: example, show: { _ in nil },
            read: { value, context in
                guard let members = value.members else {
                    return .problems([
                        value.problem("\"\(name)\" must be an object, found \(value.kindName)", code: "wrong-type")
                    ])
                }
                var values: [NamedValue] = []
                var problems: [ConfigProblem] = []
                for member in members {
                    switch read(member.value, context) {
                    case .value(let value):
                        values.append(NamedValue(name: member.key, value: value, place: member.value))
                    case .problems(let found): problems += found
                    }
                }
                return problems.isEmpty ? .value(values) : .problems(problems)
            })
    }
}
