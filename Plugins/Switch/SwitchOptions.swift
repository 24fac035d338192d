// feedbus: the options of Switch.

import Conditions
public import FeedbusPlugin

public struct SwitchOptions: PluginOptions {
    /// What an event must be to take a route.
    struct Route: Sendable {
        var name: String
        var condition: EventCondition
    }

    enum Mode: String, Sendable, CaseIterable {
        /// The first route whose condition holds.
        case first
        /// Every route whose condition holds.
        case all
    }

    /// In the order of the config.
    var routes: [Route] = []
    var mode = Mode.first
    var scope = EventScope.data
    var limit: Duration = .seconds(5)

    public init() {}

    public static let options: [Option<SwitchOptions>] = [
        .custom(
            "routes", \.routes, kind: .map(EventCondition.kind), required: true,
            help: "the routes by their names, in order; an event takes one when its condition holds",
            example: "{ \"push\": { \"pointer\": \"/type\", \"equals\": \"PushEvent\" } }", show: { _ in nil },
            read: { value, _ in readRoutes(value) }
        ).synonyms("route", "cases", "when"),
        .choice(
            "mode", \.mode,
            help: "first: an event takes the first route whose condition holds; all: every one", example: "\"all\""),
        .scope(\.scope),
        .timeLimit(\.limit),
    ]

    private static func readRoutes(_ value: PositionedValue) -> OptionReading<[Route]> {
        guard let members = value.members else {
            return .problems([
                value.problem(
                    "\"routes\" must be an object with a condition for each route, found \(value.kindName)",
                    code: "wrong-type")
            ])
        }
        var routes: [Route] = []
        var problems: [ConfigProblem] = []
        if members.isEmpty {
            problems.append(value.problem("\"routes\" must name at least one route", code: "out-of-range"))
        }
        for member in members {
            if let reason = fault(in: member.key) {
                problems.append(
                    ConfigProblem(
                        "\"\(member.key)\" is no name for a route: \(reason)", at: member.keyPosition, code: "bad-name",
                        path: member.value.path))
            }
            switch EventCondition.read(member.key, member.value) {
            case .value(let condition): routes.append(Route(name: member.key, condition: condition))
            case .problems(let found): problems += found
            }
        }
        return problems.isEmpty ? .value(routes) : .problems(problems)
    }

    /// Why a text is no name for a route; nil for one that is: as for nodes, `[a-z][a-z0-9_-]*`.
    private static func fault(in name: String) -> String? {
        if name == "unmatched" { return "it stands for what no route takes" }
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        let isName =
            name.utf8.first.map(letters.contains) == true
            && name.utf8.allSatisfy {
                letters.contains($0) || digits.contains($0) || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
            }
        return isName ? nil : "a name begins with a letter a-z and goes on with a-z, 0-9, _ and -"
    }
}
