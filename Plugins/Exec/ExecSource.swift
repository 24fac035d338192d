// feedbus: a child that prints lines, as a source.

import FeedbusPlugin
import Lines

/// Runs a program and emits the lines that it prints.
///
/// It reads only what its consumers have room for: a slow sink fills the pipe, and the child waits. A child that exits
/// with 0 completes the source; any other end is a failure, after which it is started again. Lines that were printed
/// before the end, or before the stop, are emitted.
public actor ExecSource: Source {
    public static let name = "Exec"
    public static let summary = "runs a program that prints JSON lines"

    public nonisolated let context: PluginContext
    private let command: [String]
    private var intake: LineIntake

    public static func check(_ options: ExecOptions, _ checking: OptionCheck) {
        checkProgram(options.command, checking)
    }

    /// The line itself, for lines that are no CloudEvents objects.
    public static func headline(of event: Event) -> String? {
        guard event.origin.type == ExecOptions.lineType else { return nil }
        return event.data.count > 200 ? "\(event.data[0..<200].string)…" : event.data.string
    }

    public init(options: ExecOptions, context: PluginContext) {
        self.context = context
        command = options.command ?? []
        intake = LineIntake(options: options, keepsNode: false, context: context)
    }

    public func run(_ output: Output) async throws {
        let child = try await ExecChild.start(context.child(command, stdin: false, stdout: true), context: context)
        // Not cancelled with the source: what the child has printed is still read, up to its end.
        let reading = context.task { try await self.read(child, output) }
        let result = await withCancellation {
            await reading.result
        } onCancel: {
            child.terminate(whenKilled: { reading.cancel() })
        }
        if case .failure = result { child.terminate() }
        let exit = await child.wait()
        try Task.checkCancellation()
        try result.get()
        guard exit == .code(0) else {
            throw FeedbusError("exec.ended", "\(command[0]) ended with \(exit)", isRetriable: true)
        }
    }

    private func read(_ child: ExecChild, _ output: Output) async throws {
        var bytes: Bytes?
        repeat {
            bytes = try await child.process.readOutput()
            var events: [Event] = []
            intake.push(bytes) { content in
                switch content {
                case .event(let event), .data(let event, _): events.append(event)
                }
            }
            if !events.isEmpty { try await output.emit(events) }
        } while bytes != nil
    }
}
