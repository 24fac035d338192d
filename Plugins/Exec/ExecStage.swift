// feedbus: a child that reads lines and prints lines, as a stage.

import FeedbusPlugin
import Lines

/// Runs a program that is given events as lines and whose lines are the events that go on.
///
/// Which event an output line stands for says `StageWindow`. A child that exits with 0 completes the stage, also before
/// its input has ended; any other end is a failure.
public actor ExecStage: Stage {
    public static let name = "Exec"
    public static let summary = "runs a program that reads events and prints others, as JSON lines"

    public nonisolated let context: PluginContext
    private let command: [String]
    private var intake: LineIntake
    private var window = StageWindow()
    /// Why the input ended, where it did not end well.
    private var inputFailure: (any Error)?

    public static func check(_ options: ExecOptions, _ checking: OptionCheck) {
        checkProgram(options.command, checking)
    }

    public init(options: ExecOptions, context: PluginContext) {
        self.context = context
        command = options.command ?? []
        intake = LineIntake(options: options, keepsNode: true, context: context)
    }

    public func transform(_ input: Flow<Event>) -> Flow<Event> {
        Flow { emit in try await self.run(input, emit) }
    }

    private func run(_ input: Flow<Event>, _ emit: @escaping Flow<Event>.Collector) async throws {
        let child = try await ExecChild.start(context.child(command, stdin: true, stdout: true), context: context)
        let feeding = context.task { await self.feed(child, input) }
        do {
            try await withCancellation {
                try await read(child, emit)
            } onCancel: {
                feeding.cancel()
                child.terminate()
            }
            let exit = await child.wait()
            feeding.cancel()
            _ = await feeding.result
            try Task.checkCancellation()
            if let inputFailure { throw inputFailure }
            guard exit == .code(0) else {
                throw FeedbusError("exec.ended", "\(command[0]) ended with \(exit)", isRetriable: true)
            }
        } catch {
            feeding.cancel()
            child.terminate()
            throw error
        }
    }

    /// Writes what comes in, as fast as the child reads it. A child that closes its input early is judged by its exit.
    private func feed(_ child: ExecChild, _ input: Flow<Event>) async {
        do {
            try await input.collect { chunk in
                try await child.process.write(await self.lines(asking: chunk))
            }
        } catch let error as FeedbusError where error.code == "exec.closed" {
        } catch {
            if !Task.isCancelled { inputFailure = error }
        }
        child.process.closeInput()
    }

    private func lines(asking chunk: Chunk<Event>) -> Bytes {
        window.ask(chunk)
        var writer = ByteWriter(capacity: chunk.reduce(0) { $0 + $1.data.count + 320 })
        for event in chunk {
            event.appendCloudEvent(to: &writer)
            writer.append(UInt8(ascii: "\n"))
        }
        return writer.finish()
    }

    private func read(_ child: ExecChild, _ emit: Flow<Event>.Collector) async throws {
        var bytes: Bytes?
        repeat {
            bytes = try await child.process.readOutput()
            var contents: [LineReader.Content] = []
            intake.push(bytes) { contents.append($0) }
            let events = contents.map { answer($0) }
            window.endOfRead()
            if !events.isEmpty { try await emit(Chunk(events)) }
        } while bytes != nil
    }

    /// The event that goes on: the child's words under the receipt of the event that it answers.
    private func answer(_ content: LineReader.Content) -> Event {
        switch content {
        case .event(let said):
            guard let asked = window.answer(id: said.id) else { return said }
            var event = asked
            event.origin = said.origin
            event.subject = said.subject
            event.time = said.time
            event.data = said.data
            event.attributes = said.attributes
            // A child that leaves the attribute out does not make the event its own.
            return said.origin.node == Bytes(context.node) ? intake.reader.event(event, of: asked.origin.node) : event
        case .data(let said, let isNamed):
            guard let asked = window.answerOldest() else { return said }
            var event = asked
            event.origin = said.origin
            event.id = isNamed ? said.id : StableHash.id(said.data, of: asked.id)
            event.data = said.data
            event.attributes = said.attributes
            return intake.reader.event(event, of: asked.origin.node)
        }
    }
}
