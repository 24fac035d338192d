// feedbus: the entry point of the program.

import AllPlugins
import FeedbusBase
import FeedbusLoop
import FeedbusPlugin
import FeedbusRuntime
import Glibc

@main
enum FeedbusMain {
    static func main() {
        // The first of all: from here to the loop it takes some ten milliseconds.
        if mayRun { EarlySignals.hold() }
        StandardStreams.reservePlaces()
        // Sent to everybody by whoever rotates logs: it must not end a program that is about to handle it.
        signal(SIGHUP, SIG_IGN)
        // A reader that goes away shows as an error of write, not as a signal.
        signal(SIGPIPE, SIG_IGN)
        let registry = PluginRegistry.builtins()
        let input = CommandInput(
            registry: registry, environment: ProcessEnvironment.current, files: .system,
            outIsTerminal: isatty(STDOUT_FILENO) == 1, errIsTerminal: isatty(STDERR_FILENO) == 1)
        let outcome = CommandLineTool(input: input).perform(Array(CommandLine.arguments.dropFirst()))
        if case .run = outcome {} else { EarlySignals.release() }
        switch outcome {
        case .done(let code, let out, let err):
            let written = StandardStreams.write(out, to: STDOUT_FILENO)
            StandardStreams.write(err, to: STDERR_FILENO)
            exit(written || code != 0 ? code : 1)
        case .stream(let body):
            var end = StandardStreams.End.written
            do {
                try body { bytes in
                    end = StandardStreams.write(bytes, to: STDOUT_FILENO)
                    return end == .written
                }
            } catch {
                StandardStreams.write("feedbus: \(describeError(error))\n", to: STDERR_FILENO)
                exit(1)
            }
            exit(end == .failed ? 1 : 0)
        case .run(let plan, let options, let err):
            StandardStreams.write(err, to: STDERR_FILENO)
            exit(FeedbusProgram.run(plan: plan, options: options, registry: registry))
        }
    }

    /// Whether the command is one that may run a config.
    private static var mayRun: Bool {
        guard let first = CommandLine.arguments.dropFirst().first else { return true }
        return [RunCommand.name, ReplayCommand.name].contains(CommandLineTool.name(first))
    }
}
