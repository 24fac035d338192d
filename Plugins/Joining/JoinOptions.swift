// feedbus: the options of stages that make one event of several.

public import FeedbusPlugin

public struct JoinOptions: PluginOptions {
    /// The members of `data`; nil for the names in `from`.
    public var names: [String]?
    public var type = "dev.feedbus.combined"

    public init() {}

    public static let options: [Option<JoinOptions>] = [
        .strings(
            "as", \.names,
            help: "the names of the members of data, one for each name in \"from\", in its order; without it the names"
                + " in \"from\"", example: "[\"joke\", \"repository\"]"
        ).synonyms("names", "keys"),
        .string(
            "type", \.type, help: "the type of the events that come out", example: "\"org.example.pair\""),
    ]

    /// What is wrong with `as` beside the node's `from`.
    public static func check(_ options: JoinOptions, _ checking: OptionCheck) {
        guard let names = options.names else { return }
        // Of fewer than two there is an error already.
        if let inputs = checking.node["from"]?.elements?.count, inputs > 1, inputs != names.count {
            checking.problem(
                "\"as\" holds \(counted(names.count, "name")) for the \(counted(inputs, "node")) in \"from\"", at: "as",
                code: "wrong-count")
        }
        var seen: Set<String> = []
        if let twice = names.first(where: { !seen.insert($0).inserted }) {
            checking.problem("\"as\" names \"\(twice)\" twice", at: "as", code: "repeated-name")
        }
    }
}
