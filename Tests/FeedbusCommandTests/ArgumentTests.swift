// feedbus: how arguments are read, and what is said of those that are wrong.

import FeedbusBase
import FeedbusRuntime
import Testing

@testable import FeedbusCommand

@Suite struct ArgumentTests {
    @Test func allOptionsOfRun() {
        let told = feedbus(
            "run", "--config", "config.json", "--once", "--for=30s", "--record=out.har", "--set",
            "sources.tick.with.every=5s", "--set=feedbus.state=x=y", "--log-level", "debug", "--log-format=json")
        #expect(told.code == nil && told.err == "")
        #expect(told.options?.once == true)
        #expect(told.options?.forDuration == .seconds(30))
        #expect(told.options?.record == "out.har")
        #expect(told.options?.offline == false)
        #expect(told.plan?.settings.state == "/home/x=y")
        #expect(told.plan?.settings.logLevel == .debug)
        #expect(told.plan?.settings.logFormat == .json)
    }

    @Test func runIsTheCommandWhereNoneIsNamed() {
        #expect(feedbus("--once").options?.once == true)
        #expect(feedbus("--config", "config.json").plan != nil)
    }

    @Test func withoutArgumentsThereIsShortHelp() {
        let told = feedbus()
        #expect(told.code == 2 && told.out == "" && told.err.hasPrefix("Usage: feedbus [run] --config FILE"))
    }

    @Test(arguments: [
        (["run", "--onec"], "unknown option --onec of run; did you mean --once?"),
        (["--confg", "config.json"], "unknown option --confg of run; did you mean --config?"),
        (["run", "--log-levle", "info"], "unknown option --log-levle of run; did you mean --log-level?"),
        (["run", "-x"], "unknown option -x of run"),
        (["chekc"], "unknown command \"chekc\"; did you mean check?"),
        (["graph"], "unknown command \"graph\""),
        (["run", "--config"], "--config needs a value: FILE"),
        (["run", "--config", "--once"], "--config needs a value: FILE"),
        (["run", "--config="], "--config needs a value: FILE"),
        (["run", "--config=a", "--config=b"], "--config is given twice"),
        (["run", "--once=yes"], "--once takes no value"),
        (["run", "config.json"], "run takes no argument \"config.json\"; did you mean --config config.json?"),
        (["config.json"], "unknown command \"config.json\"; did you mean --config config.json?"),
        (["version", "config.json"], "version takes no argument \"config.json\""),
        (["run", "--for", "soon"], "--for: \"soon\" is no duration such as 500ms, 30s, 5m or 1h"),
        (["run", "--for", "0s"], "--for: \"0s\" is no duration such as 500ms, 30s, 5m or 1h"),
        (["run", "--set", "nothing"], "--set: \"nothing\" is not of the form PATH=VALUE"),
        (
            ["run", "--log-level", "warn"],
            "--log-level: \"warn\" is none of trace, debug, info, warning, error; did you mean warning?"
        ),
        (["run", "--offline", "--record", "x.har"], "--offline makes no requests: there is nothing for --record"),
        (
            ["run", "--offline"],
            "--offline needs a recording: name one in the config, \"http\": { \"offline\": \"FILE.har\" }"
        ),
        (["check", "a.json", "b.json"], "one FILE too many: \"b.json\""),
        (["check", "a.json", "--config", "b.json"], "the config is named twice"),
        (["describe"], "describe needs NAME: the name of a plugin, as \"feedbus list\" shows it"),
        (["describe", "Tik"], "unknown plugin \"Tik\"; did you mean Tick?"),
        (["help", "chekc"], "unknown command \"chekc\"; did you mean check?"),
    ])
    func mistakesExitWith2AndSayWhatWasMeant(_ arguments: [String], _ message: String) {
        let told = perform(arguments)
        #expect(told.code == 2 && told.out == "")
        #expect(told.err.hasPrefix("feedbus: \(message)\nTry \"feedbus "), "\(told.err)")
    }

    private func perform(_ arguments: [String]) -> Result {
        switch arguments.count {
        case 1: feedbus(arguments[0])
        case 2: feedbus(arguments[0], arguments[1])
        case 3: feedbus(arguments[0], arguments[1], arguments[2])
        default: feedbus(arguments[0], arguments[1], arguments[2], arguments[3])
        }
    }

    @Test func theConfigIsTheOneInTheFolderWhereNoneIsNamed() {
        #expect(feedbus("run").plan != nil)
        let told = feedbus("run", files: [:])
        #expect(told.code == 2)
        #expect(told.err.hasPrefix("feedbus: there is no config.json here; name a config with --config FILE\n"))
    }

    @Test func behindTwoDashesNothingIsAnOption() {
        #expect(feedbus("check", "--", "--help").err.contains("--help"))
    }
}
