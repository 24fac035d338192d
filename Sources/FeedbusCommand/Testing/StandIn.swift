// feedbus: what stands in for a program in a test of a config.

import FeedbusJSON
import FeedbusPlugin

/// What stands in for a program.
struct StandIn: PluginOptions {
    enum Separator: String, Sendable, CaseIterable {
        case line, nul

        var text: String { self == .line ? "\n" : "\0" }
    }

    var prints: String?
    var separator = Separator.line
    var answers: [NamedValue<String>] = []

    static let options: [Option<StandIn>] = [
        .string("prints", \.prints, accepts: { _ in true }, help: "it prints this and ends"),
        .choice("separator", \.separator, help: "what ends each piece of its input"),
        .custom(
            "answers", \.answers, kind: .map(.string),
            help: "what it answers to a piece of its input; anything else comes back as it is", show: { _ in nil },
            read: { value, _ in
                guard let members = value.members, members.allSatisfy({ $0.value.string != nil }) else {
                    return .problems([
                        value.problem("\"answers\" must be an object of texts", code: "wrong-type")
                    ])
                }
                return .value(
                    members.map {
                        NamedValue(name: $0.key, value: $0.value.string ?? "", place: $0.value)
                    })
            }),
    ]
}
