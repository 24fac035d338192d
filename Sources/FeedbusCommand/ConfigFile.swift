// feedbus: which config a command means.

import FeedbusRuntime

enum ConfigFile {
    /// A config that was read for a command, or what to say where it cannot be.
    struct Loaded {
        var plan: Plan?
        /// What is to be said beside.
        var warnings = ""
        var refusal = CommandOutcome.done()
    }

    /// Reads and checks the config that was named.
    static func load(
        _ named: String?, _ input: CommandInput, overrides: [Override] = []
    ) throws(UsageError) -> Loaded {
        let file = try find(named, input)
        let loader = ConfigLoader(registry: input.registry, environment: input.environment, files: input.files)
        let (plan, problems) = loader.load(path: file, overrides: overrides)
        let text = ProblemText(file: file, overrides: overrides, color: input.mayColor(input.errIsTerminal))
        guard let plan else {
            return Loaded(
                refusal: .done(code: 2, err: text.lines(problems) + text.summary(problems) + "; nothing was started\n"))
        }
        return Loaded(plan: plan, warnings: text.lines(problems))
    }

    /// Taken where no file is named.
    static let standard = "config.json"

    /// The file that was named, else `config.json` where there is one.
    static func find(_ named: String?, _ input: CommandInput) throws(UsageError) -> String {
        if let named { return named }
        guard input.files.exists(FileAccess.absolute(standard, in: input.files.workingDirectory)) else {
            throw UsageError("there is no \(standard) here; name a config with --config FILE")
        }
        return standard
    }
}
