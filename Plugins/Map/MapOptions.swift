// feedbus: what an event's data becomes.

import Conditions
public import FeedbusPlugin

public struct MapOptions: PluginOptions {
    var jq: JQExpression?
    var pick: [PickField] = []
    var scope = EventScope.data
    var limit: Duration = .seconds(5)

    public init() {}

    public static let options: [Option<MapOptions>] = [
        .jq(
            "jq", \.jq,
            help: "an expression whose outputs become the data of events: none, one or several for each event",
            example: "\"{id, login: .actor.login}\""
        ).synonyms("expression", "map", "select", "transform"),
        .custom(
            "pick", \.pick,
            kind: .either([.list(.pointer), .map(.pointer)]),
            help: "the data becomes an object of the values at these pointers, each as it stands in the text",
            example: "[\"/id\", \"/actor/login\"]", show: { _ in nil }, read: { value, _ in PickField.read(value) }
        ).synonyms("project", "fields", "pointers", "keep"),
        .scope(\.scope),
        .timeLimit(\.limit),
    ]
}

/// One value that goes over.
struct PickField: Sendable {
    var name: String
    var pointer: JSONPointer

    /// A list of pointers, named by their last reference tokens, or an object of pointers.
    static func read(_ value: PositionedValue) -> OptionReading<[PickField]> {
        var fields: [PickField] = []
        var problems: [ConfigProblem] = []
        let places: [(name: String?, value: PositionedValue)]
        if let elements = value.elements {
            places = elements.map { (nil, $0) }
        } else if let members = value.members {
            places = members.map { ($0.key, $0.value) }
        } else {
            let words = "\"pick\" must be a list of JSON pointers or an object of them, found \(value.kindName)"
            return .problems([value.problem(words, code: "wrong-type")])
        }
        for place in places {
            guard let text = place.value.string, let pointer = JSONPointer(text) else {
                let found = place.value.string.map { "\"\($0)\"" } ?? place.value.kindName
                problems.append(
                    place.value.problem(
                        "\"pick\" takes JSON pointers such as \"/actor/login\", found \(found)", code: "not-a-pointer"))
                continue
            }
            guard let name = place.name ?? pointer.tokens.last?.string else {
                problems.append(
                    place.value.problem(
                        "the pointer to all of the data has no name: write { \"name\": \"\" }", code: "out-of-range"))
                continue
            }
            if fields.contains(where: { $0.name == name }) {
                problems.append(
                    place.value.problem(
                        "two values would be named \"\(name)\": write { \"name\": \"\(text)\", … }",
                        code: "contradiction"))
                continue
            }
            fields.append(PickField(name: name, pointer: pointer))
        }
        if places.isEmpty { problems.append(value.problem("\"pick\" must not be empty", code: "out-of-range")) }
        return problems.isEmpty ? .value(fields) : .problems(problems)
    }
}
