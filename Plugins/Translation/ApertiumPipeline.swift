// feedbus: the processes of one translation direction, kept alive between texts.

import FeedbusPlugin
import Glibc

/// Apertium's programs for one direction (`eng-spa`), connected by pipes. They are started with the first text and stay:
/// a text then takes a millisecond or a few instead of the third of a second that starting them takes. After a quiet
/// minute they end, and start again with the next text.
actor ApertiumPipeline {
    private nonisolated let context: PluginContext
    /// The mode file: a shell pipeline.
    private let modeFile: String
    private let timeout: Duration
    private var child: ChildProcess?
    private var answers = Bytes()
    private var words = ""
    private var isBusy = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var quiet: Task<Void, any Error>?

    private static let quietTime = Duration.seconds(60)

    /// `apertium-wblank-mode -z` makes every program of the mode answer at once when it reads a NUL.
    private static let script = """
        export LC_ALL=C.UTF-8
        mode=$(apertium-wblank-mode -z "$0") && exec bash -c "$mode" "$0" -n
        """

    nonisolated var unownedExecutor: UnownedSerialExecutor { context.executor }

    init(modeFile: String, timeout: Duration, context: PluginContext) {
        self.context = context
        self.modeFile = modeFile
        self.timeout = timeout
    }

    /// One text at a time; the others wait in order.
    func translate(_ text: String) async throws -> String {
        await takeTurn()
        defer { giveTurn() }
        quiet?.cancel()
        try Task.checkCancellation()
        let child = try await running()
        // A program that hangs must not hang the stage.
        let watch = context.task { [context, timeout] in
            try await context.clock.sleep(for: timeout)
            child.kill(SIGKILL)
        }
        defer { watch.cancel() }
        do {
            // Beside the reading: a long text comes out at one end before all of it went in at the other.
            let writing = context.task { try await child.write(Bytes(ApertiumText.encoded(text) + "\0")) }
            let answer = try await answer(of: child)
            try await writing.value
            guard answer.hasSuffix(ApertiumText.end) else {
                throw FeedbusError("translation.apertium", "one of its programs has ended", isRetriable: true)
            }
            endWhenQuiet(child)
            return ApertiumText.decoded(answer, original: text)
        } catch {
            // What is still to come out of it belongs to no text any more.
            drop(child)
            throw error is CancellationError
                ? error
                : FeedbusError(
                    "translation.apertium",
                    "apertium (\(modeFile)) failed: \(words.isEmpty ? describeError(error) : words)",
                    isRetriable: true, cause: error)
        }
    }

    private func running() async throws -> ChildProcess {
        if let child { return child }
        let command = ChildCommand(["bash", "-c", ApertiumPipeline.script, modeFile])
        let child = try await context.host.spawn(command)
        self.child = child
        answers = Bytes()
        words = ""
        context.task { await self.note(child) }
        return child
    }

    private func note(_ child: ChildProcess) async {
        while let bytes = try? await child.readErrors() {
            if self.child === child { words = String((words + bytes.string).prefix(300)) }
        }
        _ = await child.wait()
        if self.child === child { self.child = nil }
    }

    /// What comes up to the next NUL.
    private func answer(of child: ChildProcess) async throws -> String {
        while true {
            if let end = answers.firstIndex(of: 0) {
                let answer = answers[0..<end].string
                answers = answers[end + 1..<answers.count]
                return answer
            }
            guard let more = try await child.readOutput() else {
                throw FeedbusError("translation.apertium", "it ended with \(await child.wait())", isRetriable: true)
            }
            var writer = ByteWriter(capacity: answers.count + more.count)
            writer.append(answers)
            writer.append(more)
            answers = writer.finish()
        }
    }

    private func endWhenQuiet(_ child: ChildProcess) {
        quiet = context.task {
            try await self.context.clock.sleep(for: ApertiumPipeline.quietTime)
            await self.end(child)
        }
    }

    private func end(_ child: ChildProcess) {
        guard self.child === child, !isBusy else { return }
        self.child = nil
        child.closeInput()
    }

    private func drop(_ child: ChildProcess) {
        if self.child === child { self.child = nil }
        child.closeInput()
        child.kill(SIGTERM)
    }

    /// No more texts will come.
    func close() {
        quiet?.cancel()
        if let child { isBusy ? drop(child) : end(child) }
    }

    // MARK: - Turns

    private func takeTurn() async {
        if !isBusy {
            isBusy = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func giveTurn() {
        if waiting.isEmpty { isBusy = false } else { waiting.removeFirst().resume() }
    }
}

extension Bytes {
    fileprivate func firstIndex(of byte: UInt8) -> Int? {
        withUnsafeBytes { $0.firstIndex(of: byte) }
    }
}
