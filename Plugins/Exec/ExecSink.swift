// feedbus: a child that reads lines, as a sink.

import FeedbusPlugin
import Glibc

/// Runs a program and writes events to its standard input, a line of CloudEvents JSON each.
///
/// An event counts as delivered when the write to the pipe returned. A child that ends is a failed write: the node's
/// `retry` starts it again.
public actor ExecSink: Sink {
    public static let name = "Exec"
    public static let summary = "runs a program that reads events as JSON lines"

    public nonisolated let context: PluginContext
    private let command: [String]
    private var child: ExecChild?
    /// A child that was told to end after a write to it had failed.
    private var leaving: ExecChild?
    /// Why the last child is no more; the next write says it.
    private var end: ChildExit?

    /// How long a child may take to end after the end of its input.
    private static let patience = Duration.seconds(3)

    public static func check(_ options: ExecSinkOptions, _ checking: OptionCheck) {
        checkProgram(options.command, checking)
    }

    public init(options: ExecSinkOptions, context: PluginContext) {
        self.context = context
        command = options.command ?? []
    }

    public func open() async throws {
        end = nil
        guard child == nil else { return }
        // One at a time: both might write to the same file.
        if let leaving { _ = await leaving.wait() }
        leaving = nil
        let child = try await ExecChild.start(context.child(command, stdin: true, stdout: false), context: context)
        self.child = child
        context.task { await self.ended(child, await child.wait()) }
    }

    private func ended(_ child: ExecChild, _ exit: ChildExit) {
        guard self.child === child else { return }
        self.child = nil
        end = exit
        context.log.warning("\(command[0]) ended with \(exit)")
    }

    public func write(_ events: Chunk<Event>) async throws {
        guard let child else {
            let how = end.map { " with \($0)" } ?? ""
            throw FeedbusError("exec.ended", "\(command[0]) ended\(how) and takes no events", isRetriable: true)
        }
        var writer = ByteWriter(capacity: events.reduce(0) { $0 + $1.data.count + 320 })
        for event in events {
            event.appendCloudEvent(to: &writer)
            writer.append(UInt8(ascii: "\n"))
        }
        do {
            try await child.process.write(writer.finish())
        } catch {
            // It has read a part of a line, perhaps: whatever the reason, this child gets no more.
            if self.child === child { self.child = nil }
            leaving = child
            child.process.closeInput()
            child.terminate()
            guard !(error is CancellationError) else { throw error }
            throw FeedbusError(
                "exec.ended", "\(command[0]) takes no events: \(describeError(error))", isRetriable: true, cause: error)
        }
    }

    public func close() async {
        guard let child else { return }
        self.child = nil
        child.process.closeInput()
        // Not in this task: it may be cancelled already, and then it would not wait.
        let waiting = context.task { [context] in
            try await context.clock.sleep(for: ExecSink.patience)
            context.log.warning("\(child.process.pid) did not end after the end of its input")
            child.terminate()
        }
        let exit = await child.wait()
        waiting.cancel()
        if exit != .code(0) { context.log.warning("\(command[0]) ended with \(exit)") }
    }
}
