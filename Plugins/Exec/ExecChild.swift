// feedbus: a child process as the three Exec plugins keep it.

import FeedbusPlugin
import Glibc
import Lines
import Synchronization

/// A running child whose words on stderr go into the node's log, and that can be made to end for certain.
final class ExecChild: Sendable {
    let process: ChildProcess
    private let context: PluginContext
    private let ending = Mutex<Task<Void, any Error>?>(nil)
    private let logging: Task<Void, any Error>

    /// How long a child may take to end after SIGTERM.
    static let patience = Duration.seconds(2)
    /// How long the words of a child that has ended are waited for: a process that it left behind may hold its stderr open.
    private static let lastWords = Duration.milliseconds(500)
    /// The longest line of stderr that is logged.
    private static let longestWords = 1_000

    private init(_ process: ChildProcess, context: PluginContext) {
        self.process = process
        self.context = context
        logging = context.task { await ExecChild.logErrors(of: process, context) }
    }

    static func start(_ command: ChildCommand, context: PluginContext) async throws -> ExecChild {
        let child = ExecChild(try await context.host.spawn(command), context: context)
        context.log.debug("started \(command.arguments[0]) as process \(child.process.pid)")
        return child
    }

    private static func logErrors(of process: ChildProcess, _ context: PluginContext) async {
        var splitter = LineSplitter(limit: 1 << 16)
        var budget = LogBudget()
        let log = { (line: LineSplitter.Line) in
            let words: String
            switch line {
            case .text(_, let text):
                guard !text.isEmpty else { return }
                words = text.count > longestWords ? "\(text[0..<longestWords].string)…" : text.string
            case .tooLong(_, let length): words = "(a line of \(length) bytes)"
            }
            guard case .pass(let leftOut) = budget.ask(at: context.clock.now) else { return }
            if leftOut > 0 { context.log.info("stderr: … \(leftOut) more lines") }
            context.log.info("stderr: \(words)")
        }
        while let bytes = try? await process.readErrors() { splitter.push(bytes, log) }
        splitter.finish(log)
        let leftOut = budget.rest()
        if leftOut > 0 { context.log.info("stderr: … \(leftOut) more lines") }
    }

    /// Makes the child end: SIGTERM to its process group now, SIGKILL when it is still there after `patience`.
    ///
    /// - Parameter whenKilled: called when SIGKILL was needed: a process that left the group may still hold the pipes.
    func terminate(whenKilled: @escaping @Sendable () -> Void = {}) {
        ending.withLock { ending in
            guard ending == nil else { return }
            process.kill(SIGTERM)
            ending = context.task { [process, context] in
                try await context.clock.sleep(for: ExecChild.patience)
                process.kill(SIGKILL)
                whenKilled()
            }
        }
    }

    /// The child's end, when also its last words are in the log. What was to happen if it did not end is called off.
    func wait() async -> ChildExit {
        let exit = await process.wait()
        ending.withLock { $0 }?.cancel()
        let limit = context.task { [context, logging] in
            try await context.clock.sleep(for: ExecChild.lastWords)
            logging.cancel()
        }
        _ = await logging.result
        limit.cancel()
        return exit
    }
}
