// feedbus: helpers of the HTTP tests.

import FeedbusBase
import FeedbusHTTP
import FeedbusTestKit
import Synchronization

/// Answers as it is told, and remembers what it was asked.
final class ScriptedTransport: HTTPTransport {
    enum Step: Sendable {
        case answer(Int, HTTPHeaders = [:], Bytes = "[]")
        case failure(FeedbusError.Code)
        case hang
    }

    private struct State {
        var steps: [Step]
        var requests: [HTTPRequest] = []
        var times: [Instant] = []
    }

    private let clock: any EventClock
    private let takes: Duration
    private let recorded: Bool
    private let state: Mutex<State>

    /// - Parameters:
    ///   - steps: in turn; the last one stays.
    ///   - takes: how long each answer takes.
    init(_ steps: [Step], clock: any EventClock, takes: Duration = .zero, recorded: Bool = false) {
        self.clock = clock
        self.takes = takes
        self.recorded = recorded
        state = Mutex(State(steps: steps))
    }

    var requests: [HTTPRequest] { state.withLock { $0.requests } }
    /// When each request came, in seconds.
    var times: [Double] { state.withLock { $0.times.map { Double($0.nanoseconds) / 1e9 } } }
    var count: Int { state.withLock { $0.requests.count } }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let step = state.withLock { state in
            state.requests.append(request)
            state.times.append(clock.now)
            return state.steps.count > 1 ? state.steps.removeFirst() : state.steps[0]
        }
        if takes > .zero { try await clock.sleep(for: takes) }
        switch step {
        case .answer(let status, let headers, let body):
            return HTTPResponse(status: status, headers: headers, body: body, url: request.url, recorded: recorded)
        case .failure(let code):
            throw FeedbusError(code, "GET \(request.url): \(code)", isRetriable: true)
        case .hang:
            try await clock.sleep(for: .seconds(86_400))
            throw CancellationError()
        }
    }
}

/// Keeps log lines.
final class LogLines: Sendable {
    private let state = Mutex<[LogRecord]>([])

    func log(_ node: String = "rx", level: LogLevel = .debug) -> Log {
        Log(node: node, level: level) { [self] record in state.withLock { $0.append(record) } }
    }

    var all: [LogRecord] { state.withLock { $0 } }

    func messages(_ level: LogLevel) -> [String] { all.filter { $0.level == level }.map(\.message) }
}

/// All that a polite client needs, under virtual time.
struct Bed {
    let clock: any EventClock
    let transport: ScriptedTransport
    let lines = LogLines()
    let ledger: ServiceLedger

    init(_ simulation: Simulation, takes: Duration = .zero, recorded: Bool = false, _ steps: ScriptedTransport.Step...)
    {
        clock = simulation.clock
        transport = ScriptedTransport(steps, clock: simulation.clock, takes: takes, recorded: recorded)
        ledger = ServiceLedger()
    }

    func client(
        _ node: String = "rx", retry: RetryPolicy = RetryPolicy(attempts: 3, jitter: false), seed: UInt64 = 1
    ) -> PoliteClient {
        PoliteClient(
            transport: transport, ledger: ledger, retry: retry, clock: clock, log: lines.log(node), seed: seed)
    }

    /// The moment when the simulation began, as an HTTP date.
    static let date = "Sun, 01 Mar 2026 12:00:00 GMT"
    static let epoch = 1_772_366_400
}

let feed = "http://127.0.0.1:8080/repos/a/a/events"

/// Decodes nothing.
let text: @Sendable (HTTPResponse) throws -> String = { $0.body.string }

/// The error that a body throws.
func failure(_ body: () async throws -> some Any) async -> FeedbusError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? FeedbusError
    }
}

extension String {
    var bytes: Bytes { Bytes(self) }
}
