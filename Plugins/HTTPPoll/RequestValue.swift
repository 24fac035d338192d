// feedbus: a header or query item of a request, as a config gives it: plain text, or a secret.

import FeedbusPlugin

/// A name with a value. The value of a secret is never shown.
struct RequestValue: Sendable {
    var name: String
    var value: Value

    enum Value: Sendable {
        case plain(String)
        case secret(Secret)
    }

    var text: String {
        switch value {
        case .plain(let text): text
        case .secret(let secret): secret.reveal()
        }
    }

    var isSecret: Bool {
        if case .secret = value { true } else { false }
    }

    /// An object of names with values, each a string or `{ "secret": … }`.
    static func option<Root: PluginOptions>(
        _ name: String, _ path: OptionPath<Root, [RequestValue]>, accepts: @escaping @Sendable (String) -> Bool,
        help: String, example: String
    ) -> Option<Root> {
        .custom(
            name, path, kind: .map(.either([.string, .secret])), help: help, example: example, show: { _ in nil },
            read: { value, context in read(name, value, context, accepts) })
    }

    private static func read(
        _ name: String, _ value: PositionedValue, _ context: OptionContext, _ accepts: (String) -> Bool
    ) -> OptionReading<[RequestValue]> {
        guard let members = value.members else {
            return .problems([
                value.problem(
                    "\"\(name)\" must be an object of names and values, found \(value.kindName)",
                    code: "wrong-type")
            ])
        }
        var values: [RequestValue] = []
        var problems: [ConfigProblem] = []
        for member in members {
            guard accepts(member.key) else {
                problems.append(
                    ConfigProblem(
                        "\"\(member.key)\" cannot stand in \"\(name)\"", at: member.keyPosition,
                        code: "out-of-range", path: member.value.path))
                continue
            }
            switch readValue(member.value, member.key, context) {
            case .value(let value): values.append(RequestValue(name: member.key, value: value))
            case .problems(let found): problems += found
            }
        }
        return problems.isEmpty ? .value(values) : .problems(problems)
    }

    private static func readValue(
        _ value: PositionedValue, _ name: String, _ context: OptionContext
    ) -> OptionReading<Value> {
        if value.members != nil {
            switch OptionReading.secret(name, value, context) {
            case .value(let secret): return .value(.secret(secret))
            case .problems(let problems): return .problems(problems)
            }
        }
        guard let text = value.string else {
            return .problems([
                value.problem(
                    "\"\(name)\" must be a string or { \"secret\": … }, found \(value.kindName)", code: "wrong-type")
            ])
        }
        guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
            return .problems([
                value.problem("\"\(name)\" contains line breaks or control characters", code: "out-of-range")
            ])
        }
        return .value(.plain(text))
    }
}
