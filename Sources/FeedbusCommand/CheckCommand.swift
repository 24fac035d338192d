// feedbus: feedbus check

import FeedbusRuntime

struct CheckCommand: Command {
    enum Format: String, Sendable, CaseIterable { case text, json }

    var file: String?
    var config: String?
    var format: Format?

    static let name = "check"
    static let summary = "find everything that is wrong with a config; start and write nothing"
    static let details = "Problems go to stdout. Exit code 0: there are none; 2: there are."

    static let options: [CommandOption<CheckCommand>] = [
        .text("--config", \.config, value: "FILE", help: "the config, as FILE alone"),
        .choice("--format", \.format, value: "FORMAT", help: "how problems are written"),
    ]
    static let operand: CommandOperand<CheckCommand>? = CommandOperand(
        name: "FILE", isRequired: false, help: "the config; without it ./config.json", path: \.file)

    func perform(_ input: CommandInput) throws(UsageError) -> CommandOutcome {
        guard file == nil || config == nil else { throw UsageError("the config is named twice") }
        let file = try ConfigFile.find(file ?? config, input)
        let loader = ConfigLoader(registry: input.registry, environment: input.environment, files: input.files)
        let (plan, problems) = loader.load(path: file)
        let text = ProblemText(file: file, color: input.mayColor(input.outIsTerminal))
        let code: Int32 = plan == nil ? 2 : 0
        if format == .json { return .done(code: code, out: text.json(problems)) }
        guard problems.isEmpty, let plan else {
            return .done(code: code, out: text.lines(problems), err: text.summary(problems) + "\n")
        }
        return .done(out: "\(text.summary([])): \(CheckCommand.counts(plan))\n")
    }

    /// `2 sources, 1 sink`
    private static func counts(_ plan: Plan) -> String {
        var counts = [0, 0, 0, 0]
        for node in plan.nodes {
            switch node.role {
            case .source: counts[0] += 1
            case .stage, .join, .routing: counts[1] += 1
            case .subject: counts[2] += 1
            case .sink: counts[3] += 1
            }
        }
        return zip(counts, ["source", "stage", "subject", "sink"]).filter { $0.0 > 0 }
            .map { "\($0) \($1)\($0 == 1 ? "" : "s")" }.joined(separator: ", ")
    }
}
