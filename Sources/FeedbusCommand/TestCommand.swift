// feedbus: feedbus test

import FeedbusBase
import FeedbusPlugin
import FeedbusRuntime

struct TestCommand: Command {
    var file: String?
    var update = false
    var seed: String?

    static let name = "test"
    static let summary = "run a config on recorded answers, in virtual time, and compare what comes out"
    static let details = """
        FILE is a JSON object: "config", "recording", "for" or "once", and what is to come of it: "expect" (events by sink)
        and "requests" (how many). An hour of polling takes about a second; no network, clock or program is used, and no
        file is written but by --update. Docs/TestingAConfig.md explains it. Exit code 0: all is as expected; 1: it is not;
        2: FILE or its config has a mistake.
        """

    static let options: [CommandOption<TestCommand>] = [
        .flag("--update", \.update, help: "write the events that came into the files that FILE names for them"),
        .text("--seed", \.seed, value: "NUMBER", help: "for the order of what happens at once, instead of FILE's own"),
    ]
    static let operand: CommandOperand<TestCommand>? = CommandOperand(
        name: "FILE", isRequired: true, help: "what is run, and what is to come of it", path: \.file)

    func perform(_ input: CommandInput) throws(UsageError) -> CommandOutcome {
        let file = file ?? ""
        let path = FileAccess.absolute(file, in: input.files.workingDirectory)
        var number: UInt64?
        if let seed {
            guard let value = UInt64(seed) else { throw UsageError("--seed: \"\(seed)\" is no whole number") }
            number = value
        }
        let reading = ConfigTest.read(path, input)
        let test: ConfigTest
        switch reading {
        case .success(let read): test = read
        case .failure(let mistake):
            let text = ProblemText(file: file, color: input.mayColor(input.errIsTerminal))
            return .done(code: 2, err: text.lines(mistake.problems) + text.summary(mistake.problems) + "\n")
        }
        let run = ConfigTestRun(test: test, directory: FileAccess.absolute("..", in: path), input: input)
        switch run.perform(name: file, seed: number ?? UInt64(test.seed), update: update) {
        case .cannot(let words): return .done(code: 2, err: words)
        case .failed(let words): return .done(code: 1, out: words)
        case .passed(let words): return .done(out: words)
        }
    }
}
