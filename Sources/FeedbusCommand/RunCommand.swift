// feedbus: feedbus run

import FeedbusBase
import FeedbusRuntime

struct RunCommand: Command {
    var config: String?
    var once = false
    var forDuration: Duration?
    var offline = false
    var record: String?
    var resetState = false
    var overrides: [Override] = []
    var logLevel: LogLevelName?
    var logFormat: LogFormat?

    static let name = "run"
    static let summary = "run the graph that a config describes (the command where none is named)"
    static let details = """
        Events go to stdout, logs to stderr. SIGTERM and SIGINT drain and end the run; a second one ends it at once.
        """

    static let options: [CommandOption<RunCommand>] = [
        .text("--config", \.config, value: "FILE", help: "the config; without it ./config.json"),
        .flag("--once", \.once, help: "poll once, let finite sources end, drain, exit"),
        .duration("--for", \.forDuration, help: "end by itself after this time, such as 30s or 5m"),
        .flag("--offline", \.offline, help: "answer from the recording that http.offline names, and use no network"),
        .text(
            "--record", \.record, value: "FILE.har", help: "write all HTTP exchanges to a recording, without secrets"),
        .flag(
            "--reset-state", \.resetState,
            help: "keep a damaged state database aside under another name and begin afresh, instead of an error"),
        .list(
            "--set", \.overrides, value: "PATH=VALUE",
            help: "a value that takes the place of one in the config: sources.jokes.with.every=5s",
            read: Override.init(argument:)),
        .choice("--log-level", \.logLevel, value: "LEVEL", help: "the least important record to write"),
        .choice("--log-format", \.logFormat, value: "FORMAT", help: "how log records are written"),
    ]

    func perform(_ input: CommandInput) throws(UsageError) -> CommandOutcome {
        guard !(offline && record != nil) else {
            throw UsageError("--offline makes no requests: there is nothing for --record")
        }
        let loaded = try ConfigFile.load(config, input, overrides: overrides)
        guard var plan = loaded.plan else { return loaded.refusal }
        guard !offline || plan.settings.offlineRecording != nil else {
            throw UsageError(
                "--offline needs a recording: name one in the config, \"http\": { \"offline\": \"FILE.har\" }")
        }
        if let logLevel { plan.settings.logLevel = logLevel.level }
        if let logFormat { plan.settings.logFormat = logFormat }
        var options = RunOptions()
        options.once = once
        options.forDuration = forDuration
        options.offline = offline
        options.record = record
        options.resetState = resetState
        return .run(plan, options, err: loaded.warnings)
    }
}
