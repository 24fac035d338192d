// feedbus: contexts, logs and events for tests of plugins.

import FeedbusFlow
import FeedbusHTTP
import FeedbusLoop
import FeedbusPlugin
import FeedbusTestKit
import Synchronization

/// Remembers what was logged.
final class LogBook: Sendable {
    private let records = Mutex<[LogRecord]>([])

    var log: Log { Log(node: "node", level: .debug) { record in self.records.withLock { $0.append(record) } } }

    func messages(_ level: LogLevel = .info) -> [String] {
        records.withLock { $0.filter { $0.level >= level }.map(\.message) }
    }
}

/// Nobody answers.
struct NoTransport: HTTPTransport {
    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        throw FeedbusError(.httpConnect, "no network here")
    }
}

func context(
    on host: any LoopHost, clock: any EventClock, book: LogBook = LogBook(), directory: String = "/",
    onError: ErrorPolicy = .pass, transport: any HTTPTransport = NoTransport(),
    headline: @escaping @Sendable (Event) -> String? = { _ in nil }
) -> PluginContext {
    let retry = RetryPolicy(attempts: 5, base: .milliseconds(100), cap: .seconds(1))
    return PluginContext(
        node: "node", log: book.log, clock: clock, mode: RunMode(), retry: retry, onError: onError,
        http: PoliteClient(
            transport: transport, ledger: ServiceLedger(), retry: retry, clock: clock, log: book.log, seed: 1),
        host: host, directory: directory, seed: 1, headline: headline, loadCursor: { _ in nil })
}

/// A manual loop as a plugin's host.
struct ManualHost: LoopHost {
    let loop: ManualLoop

    var serialExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    var taskExecutor: any TaskExecutor { loop }

    func offload<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T { try work() }

    func spawn(_ command: ChildCommand) async throws -> ChildProcess {
        throw FeedbusError("test", "no child processes here")
    }
}

/// Sleeps take no time at all; after so many of them the sleeper's task is told to stop.
final class SleeplessClock: EventClock {
    private let slept = Mutex<[Duration]>([])
    private let limit: Int
    private let elapsed = Mutex(Duration.zero)

    init(limit: Int = .max) { self.limit = limit }

    var pauses: [Duration] { slept.withLock(\.self) }
    var now: Instant { Instant(nanoseconds: elapsed.withLock(\.nanoseconds)) }
    var wallTime: WallTime { WallTime(seconds: 1_772_366_400) + elapsed.withLock(\.self) }

    func advance(_ duration: Duration) { elapsed.withLock { $0 += duration } }

    func sleep(until deadline: Instant) async throws {
        try Task.checkCancellation()
        let pause = deadline - now
        let count = slept.withLock {
            $0.append(pause)
            return $0.count
        }
        if count >= limit { throw CancellationError() }
        advance(max(pause, .zero))
        await Task.yield()
    }
}

let testOrigin = EventOrigin(source: "test:source", type: "org.example.test", node: "src")

func event(_ data: String, id: String = "1", origin: EventOrigin = testOrigin) -> Event {
    Event(origin: origin, id: Bytes(id), data: Bytes(data))
}

/// Events with the data `{"n":…}`, their ids the numbers.
func numbered(_ range: Range<Int>) -> Chunk<Event> {
    Chunk(range.map { event("{\"n\":\($0)}", id: "\($0)") })
}

/// What went through an output or a flow.
final class Collected: Sendable {
    private let kept = Mutex<[Event]>([])

    var events: [Event] { kept.withLock(\.self) }
    var data: [String] { events.map(\.data.string) }
    func add(_ events: some Sequence<Event> & Sendable) { kept.withLock { $0 += Array(events) } }
    var output: Output { Output { events, _ in self.add(events) } }
}

/// Options as a config gives them.
func options<Options: PluginOptions>(_ type: Options.Type, _ text: String) throws -> Options {
    let (value, mistakes) = ConfigText.parse(Bytes(text))
    guard let value, mistakes.isEmpty else { throw FeedbusError("test", "\(mistakes)") }
    let (options, problems) = Options.decode(
        value, owner: value,
        context: OptionContext(owner: "Test", environment: ["KEY": "the-key"], readFile: { _ in nil }))
    guard problems.isEmpty else { throw FeedbusError("test", problems.map(\.message).joined(separator: "; ")) }
    return options
}

/// What a plugin's check says of a node with these options.
func problems<Plugin: FeedbusPlugin.Plugin>(_ type: Plugin.Type, _ text: String, programs: [String] = []) throws
    -> [String]
{
    let node = ConfigText.parse(Bytes("{\"with\": \(text)}")).value!
    let checking = OptionCheck(
        owner: Plugin.name, node: node, directory: "/config", environment: ["PATH": "/bin"],
        isExecutable: { programs.contains($0) })
    Plugin.check(try options(Plugin.Options.self, text), checking)
    return checking.problems.map(\.message)
}
