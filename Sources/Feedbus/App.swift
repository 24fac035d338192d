// feedbus: what a program that uses feedbus as a library has of the outside.

public import FeedbusBase
public import FeedbusHTTP
public import FeedbusLoop

/// The outside of a program: services, time, files and processes, the terminal. Nothing else reaches out, so the same
/// program runs on an event loop (`App.main`), from a recording (`--offline`), and in a test under virtual time
/// (`PluginBench.app()` of FeedbusTestKit).
///
///     @main enum Headlines {
///         static func main() {
///             App.main("headlines") { app in
///                 try await app.poll(HTTPRequest("https://example.org/feed"), every: .seconds(60)) { $0.body.string }
///                     .collect { for text in $0 { try await app.print(text.value ?? "") } }
///             }
///         }
///     }
public struct App: Sendable {
    /// The polite client. All requests of a program share its budgets and back-off.
    public var http: PoliteClient
    /// The only source of time.
    public var clock: any EventClock
    /// The loop: files, processes, the thread pool, tasks.
    public var host: any LoopHost
    public var log: Log
    /// `--once`, `--offline`: what polls, polls once.
    public var once: Bool
    /// What the command line says beside the program's name and the options of `AppSettings`.
    public var arguments: [String]

    private let output: @Sendable (String) async throws -> Void
    let seed: UInt64

    /// - Parameters:
    ///   - seed: for the jitter of polls.
    ///   - print: takes one line, and returns when the next one may come.
    public init(
        http: PoliteClient, clock: any EventClock, host: any LoopHost, log: Log = .silent, once: Bool = false,
        arguments: [String] = [], seed: UInt64 = 0, print: @escaping @Sendable (String) async throws -> Void
    ) {
        self.http = http
        self.clock = clock
        self.host = host
        self.log = log
        self.once = once
        self.arguments = arguments
        self.seed = seed
        output = print
    }

    /// Prints one line; returns when the terminal, or whoever reads the pipe, has taken it: a slow reader holds up the
    /// flow and not the loop. One call at a time, as the consumer of a flow calls it.
    /// - Throws: when standard output cannot be written to; `CancellationError`.
    public func print(_ line: String) async throws { try await output(line) }
}
