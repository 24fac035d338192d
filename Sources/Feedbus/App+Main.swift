// feedbus: a program's main: loop, signals, services, exit code.

internal import FeedbusBase
internal import FeedbusHTTP
internal import FeedbusLoop
internal import Glibc
internal import Synchronization

extension App {
    /// Runs a program on an event loop of the calling thread, and ends the process: with 0 when `body` has returned or
    /// SIGINT or SIGTERM has cancelled it, with 1 and a line on standard error when it threw, with 2 after a mistake on the
    /// command line. A second signal ends the process at once.
    /// - Parameters:
    ///   - usage: what `--help` shows after the program's name.
    ///   - body: runs on the loop, as does all that it awaits.
    public static func main(
        _ name: String, usage: String = "", _ body: @escaping @Sendable (App) async throws -> Void
    ) -> Never {
        let words = Array(CommandLine.arguments.dropFirst())
        if words.contains("--help") {
            Swift.print("usage: \(name) \(usage.isEmpty ? "" : usage + " ")[options]\noptions: \(AppSettings.options)")
            exit(0)
        }
        do {
            try run(try AppSettings(name: name, commandLine: words), body)
            exit(0)
        } catch {
            writeToStandardError("\(name): \(describeError(error))")
            exit((error as? FeedbusError)?.code == .appUsage ? 2 : 1)
        }
    }

    /// Runs a program on an event loop of the calling thread; returns when `body` has, or was cancelled by SIGINT or SIGTERM,
    /// or when nobody reads standard output any more.
    /// - Throws: what `body` threw; `FeedbusError` where the recording cannot be read or the system has no resources.
    public static func run(
        _ settings: AppSettings, _ body: @escaping @Sendable (App) async throws -> Void
    ) throws {
        ignoreSIGPIPE()
        let loop = try EventLoop.make(name: settings.name)
        let outcome = Outcome()
        let work = loop.task {
            do {
                try await perform(settings, on: loop, body)
                outcome.set(.success(()))
            } catch {
                outcome.set(.failure(error))
            }
            loop.stop()
        }
        loop.onSignals([SIGINT, SIGTERM]) { number in
            if work.isCancelled {
                loop.killChildren()
                _exit(128 + number)
            }
            work.cancel()
        }
        try loop.run()
        do { try outcome.get() } catch is ReaderGone {} catch is CancellationError where work.isCancelled {}
    }

    private static func perform(
        _ settings: AppSettings, on loop: EventLoop, _ body: @Sendable (App) async throws -> Void
    ) async throws {
        let log = Log(level: settings.logLevel) { record in
            writeToStandardError("\(settings.name): \(record.level.name): \(record.message)")
        }
        let seed = UInt64.random(in: .min ... .max)
        let curl = settings.recording == nil ? CurlTransport(loop: loop, userAgent: settings.userAgent) : nil
        defer { curl?.close() }
        let transport: any HTTPTransport
        if let curl {
            transport = curl
        } else {
            transport = try await RecordedTransport.load(settings.recording ?? "", on: loop)
        }
        let http = PoliteClient(
            transport: transport, ledger: ServiceLedger(), retry: RetryPolicy(), clock: loop.clock, log: log, seed: seed
        )
        let output = OutputFile.standardOutput(on: loop)
        try await body(
            App(
                http: http, clock: loop.clock, host: loop, log: log, once: settings.once,
                arguments: settings.arguments, seed: seed
            ) { line in try await print(line, on: output) })
    }

    private static func print(_ line: String, on output: OutputFile) async throws {
        let text = Bytes(line + "\n")
        var written = 0
        while written < text.count {
            do {
                written += try await output.write(text[written..<text.count])
            } catch {
                try Task.checkCancellation()
                if error.errno == EPIPE { throw ReaderGone() }
                throw FeedbusError("app.output", "\(error)", cause: error)
            }
        }
    }
}

/// Whoever read standard output (`head`) has enough.
private struct ReaderGone: Error {}

private final class Outcome: Sendable {
    private let state = Mutex<Result<Void, any Error>>(.failure(CancellationError()))
    func set(_ result: Result<Void, any Error>) { state.withLock { $0 = result } }
    func get() throws { try state.withLock { $0 }.get() }
}

private func writeToStandardError(_ line: String) {
    let text = Array((line + "\n").utf8)
    _ = text.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress!, $0.count) }
}
