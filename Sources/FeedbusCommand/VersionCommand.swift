// feedbus: feedbus version

import FeedbusRuntime

struct VersionCommand: Command {
    static let name = "version"
    static let summary = "print the version"
    static let text = "feedbus \(feedbusVersion)\n"

    func perform(_ input: CommandInput) throws(UsageError) -> CommandOutcome { .done(out: VersionCommand.text) }
}
