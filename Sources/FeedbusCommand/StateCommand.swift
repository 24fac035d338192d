// feedbus: feedbus state

import FeedbusBase
import FeedbusRuntime

struct StateCommand: Command {
    enum Format: String, Sendable, CaseIterable { case text, json }

    var verb: String?
    var config: String?
    var node: String?
    var deadLetters = false
    var yes = false
    var overrides: [Override] = []
    var format: Format?

    static let name = "state"
    static let summary = "look into the state folder, take out of it, or empty it"
    static let details = """
        show    cursors, the logs of durable subjects with the places of their readers, dead letters, and what services
                have said last about their rate limits
        export  all of it on stdout, one JSON object a line
        reset   forget it: all, or what is of one node (a source's cursors, a reader's places, a subject's
                log, a node's dead letters). What was delivered before may then be delivered again.

        show and export also work while feedbus runs; reset does not.
        """

    static let options: [CommandOption<StateCommand>] = [
        .text(
            "--config", \.config, value: "FILE",
            help: "the config that names the state folder; without it ./config.json"),
        .text(
            "--node", \.node, value: "NAME", help: "only what is of this node; it need not be in the config any more"),
        .flag("--dead-letters", \.deadLetters, help: "with reset: only dead letters"),
        .flag("--yes", \.yes, help: "with reset: do it; without it, what would go is shown"),
        .list(
            "--set", \.overrides, value: "PATH=VALUE",
            help: "a value that takes the place of one in the config: feedbus.state=/var/lib/feedbus",
            read: Override.init(argument:)),
        .choice("--format", \.format, value: "FORMAT", help: "with show: how it is written"),
    ]
    static let operand: CommandOperand<StateCommand>? = CommandOperand(
        name: "show|export|reset", isRequired: true, help: "what to do", path: \.verb)

    func perform(_ input: CommandInput) throws(UsageError) -> CommandOutcome {
        let verbs = ["show", "export", "reset"]
        guard let verb, verbs.contains(verb) else {
            throw UsageError(
                "state: \"\(verb ?? "")\" is none of \(verbs.joined(separator: ", "))",
                suggestion: nearestName(to: verb ?? "", in: verbs))
        }
        guard verb == "reset" || (!deadLetters && !yes) else {
            throw UsageError("\(deadLetters ? "--dead-letters" : "--yes") is for state reset")
        }
        guard verb == "show" || format == nil else { throw UsageError("--format is for state show") }
        let loaded = try ConfigFile.load(config, input, overrides: overrides)
        guard let plan = loaded.plan else { return loaded.refusal }
        let folder = plan.settings.state
        let node = self.node
        switch verb {
        case "export":
            return .stream { write in try StateText.export(folder: folder, node: node, write: write) }
        case "reset":
            return reset(folder)
        default:
            return attempt { .done(out: try StateText.show(folder: folder, node: node, isJSON: format == .json)) }
        }
    }

    private func reset(_ folder: String) -> CommandOutcome {
        attempt {
            let shown = try StateText.show(folder: folder, node: node, isJSON: false, onlyDeadLetters: deadLetters)
            guard yes else {
                return .done(code: 2, out: shown, err: "feedbus: this would be forgotten; add --yes to do it\n")
            }
            try StateText.reset(folder: folder, node: node, onlyDeadLetters: deadLetters)
            return .done(out: "forgotten: \(shown)")
        }
    }

    private func attempt(_ body: () throws -> CommandOutcome) -> CommandOutcome {
        do { return try body() } catch {
            return .done(code: 1, err: "feedbus: \(describeError(error))\n")
        }
    }
}
