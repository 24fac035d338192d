// feedbus: feedbus replay

import FeedbusBase
import FeedbusRuntime

struct ReplayCommand: Command {
    var config: String?
    var subject: String?
    var from: String?
    var deadLetters = false
    var node: String?
    var target: String?
    var overrides: [Override] = []
    var logLevel: LogLevelName?
    var logFormat: LogFormat?

    static let name = "replay"
    static let summary = "send again what a durable subject or the store of dead letters has"
    static let details = """
        The events keep their ids. Of dead letters those that are delivered are removed; what is only
        printed (--to -) stays. Sending to a node needs the state folder: no feedbus may run on it.
        """

    static let options: [CommandOption<ReplayCommand>] = [
        .text("--config", \.config, value: "FILE", help: "the config; without it ./config.json"),
        .text("--subject", \.subject, value: "NAME", help: "a subject with \"store\": \"disk\""),
        .text(
            "--from", \.from, value: "ID|TIME|first",
            help: "with --subject: the id of an event, or a time (RFC 3339) at or after which it was stored, or first"),
        .flag("--dead-letters", \.deadLetters, help: "events that nodes could not treat"),
        .text("--node", \.node, value: "NAME", help: "with --dead-letters: only those of this node"),
        .text(
            "--to", \.target, value: "NODE|-",
            help: "a sink (dead letters: also a stage), or - for stdout; dead letters without it: each to its own node"),
        .list(
            "--set", \.overrides, value: "PATH=VALUE",
            help: "a value that takes the place of one in the config: sinks.log.with.path=again.jsonl",
            read: Override.init(argument:)),
        .choice("--log-level", \.logLevel, value: "LEVEL", help: "the least important record to write"),
        .choice("--log-format", \.logFormat, value: "FORMAT", help: "how log records are written"),
    ]

    func perform(_ input: CommandInput) throws(UsageError) -> CommandOutcome {
        let content = try self.content()
        let loaded = try ConfigFile.load(config, input, overrides: overrides)
        guard var plan = loaded.plan else { return loaded.refusal }
        try check(content, in: plan)
        if target == "-" {
            let folder = plan.settings.state
            return .stream { write in try ReplayText.print(content, folder: folder, write: write) }
        }
        if let logLevel { plan.settings.logLevel = logLevel.level }
        if let logFormat { plan.settings.logFormat = logFormat }
        var options = RunOptions()
        options.once = true
        options.replay = ReplayRequest(content: content, target: target)
        return .run(plan, options, err: loaded.warnings)
    }

    private func content() throws(UsageError) -> ReplayRequest.Content {
        switch (subject, deadLetters) {
        case (nil, false): throw UsageError("replay needs --subject NAME or --dead-letters")
        case (.some, true): throw UsageError("--subject and --dead-letters exclude each other")
        case (let subject?, false):
            guard node == nil else { throw UsageError("--node is for --dead-letters") }
            guard let from else { throw UsageError("--subject needs --from: the id of an event, a time, or first") }
            guard target != nil else { throw UsageError("--subject needs --to: a sink, or - for stdout") }
            return .subject(subject, from: ReplayStart(argument: from))
        case (nil, true):
            guard from == nil else { throw UsageError("--from is for --subject") }
            return .deadLetters(node: node)
        }
    }

    /// Whether the config has what is named.
    private func check(_ content: ReplayRequest.Content, in plan: Plan) throws(UsageError) {
        if case .subject(let subject, _) = content {
            let durable = plan.nodes.filter { $0.retention != nil }.map(\.name)
            guard durable.contains(subject) else {
                throw UsageError(
                    "there is no subject \"\(subject)\" with \"store\": \"disk\" in the config",
                    suggestion: nearestName(to: subject, in: durable))
            }
        }
        guard let target, target != "-" else { return }
        let takers = plan.nodes.filter { node in
            switch (node.role, content) {
            case (.sink, _), (.stage, .deadLetters), (.routing, .deadLetters): true
            default: false
            }
        }.map(\.name)
        guard takers.contains(target) else {
            let kind = if case .deadLetters = content { "sink or stage" } else { "sink" }
            throw UsageError(
                "--to: there is no \(kind) \"\(target)\" in the config", suggestion: nearestName(to: target, in: takers)
            )
        }
    }
}
