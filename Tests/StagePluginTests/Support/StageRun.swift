// feedbus: runs a stage on a virtual clock and writes down what comes out, and when what went in is settled.

import FeedbusPlugin
import FeedbusTestKit
import Synchronization

/// What goes into a stage, and when: the data of events, their ids 1, 2, 3, …; one entry is one chunk.
struct Script: Sendable {
    var chunks: [(at: Int, data: [String])]
    /// When the input ends, or fails; milliseconds.
    var end: Int
    var failure: (any Error)?

    init(_ chunks: [(Int, [String])], end: Int, failure: (any Error)? = nil) {
        self.chunks = chunks.map { (at: $0.0, data: $0.1) }
        self.end = end
        self.failure = failure
    }

    /// Everything at once.
    init(_ data: [String], chunk: Int = .max) {
        var chunks: [(at: Int, data: [String])] = []
        var rest = data[...]
        while !rest.isEmpty {
            chunks.append((0, Array(rest.prefix(chunk))))
            rest = rest.dropFirst(chunk)
        }
        self.chunks = chunks
        end = 0
    }
}

/// What came of a script.
struct StageTrace: Sendable {
    /// The data that came out, each with its time: `"20:{\"n\":1}"`.
    var output: [String] = []
    var events: [Event] = []
    /// When each event that went in was settled, in that order: `"20:3"`, or `"20:3 deadLettered"`.
    var settled: [String] = []
    var refused: [(id: String, reason: String)] = []
    var messages: [String] = []
    var error: String?

    var data: [String] { events.map(\.data.string) }
    var ids: [String] { events.map(\.id.string) }
}

private final class TraceBook: Sendable {
    let trace = Mutex(StageTrace())
    func add(_ change: @Sendable (inout StageTrace) -> Void) { trace.withLock { change(&$0) } }
}

/// Runs a stage over a script. What comes out is let go at once, or when a consumer that takes `busy` for each chunk is
/// done with it.
func run<S: Stage>(
    _ type: S.Type, _ with: String, _ script: Script, onError: ErrorPolicy = .pass, busy: Duration = .zero,
    seed: UInt64? = nil, event make: @escaping @Sendable (String, Int) -> Event = { event($0, id: "\($1)") }
) throws -> StageTrace {
    let options = try S.Options.decoded(from: with)
    let book = TraceBook()
    try Simulation.run(seed: seed) { simulation in
        let bench = PluginBench(simulation)
        let clock = simulation.clock
        let stage = try S(options: options, context: bench.context(onError: onError))
        do {
            try await stage.transform(flow(script, clock, book, make)).collect { chunk in
                let now = milliseconds(clock)
                book.add { trace in
                    for event in chunk {
                        trace.output.append("\(now):\(event.data.string)")
                        trace.events.append(event.detached())
                    }
                }
                try await clock.sleep(for: busy)
            }
        } catch {
            book.add { $0.error = describeError(error) }
        }
        let (refused, messages) = (bench.refused, bench.messages())
        book.add { trace in
            trace.refused = refused
            trace.messages = messages
        }
    }
    return book.trace.withLock(\.self)
}

private func milliseconds(_ clock: any EventClock) -> Int64 { clock.now.nanoseconds / 1_000_000 }

private func flow(
    _ script: Script, _ clock: any EventClock, _ book: TraceBook,
    _ make: @escaping @Sendable (String, Int) -> Event
) -> Flow<Event> {
    Flow { emit in
        var number = 0
        for chunk in script.chunks {
            try await clock.sleep(until: Instant(nanoseconds: Int64(chunk.at) * 1_000_000))
            var events: [Event] = []
            for data in chunk.data {
                number += 1
                let id = "\(number)"
                var event = make(data, number)
                event.receipt = Receipt { outcome in
                    let now = milliseconds(clock)
                    book.add { $0.settled.append(outcome == .delivered ? "\(now):\(id)" : "\(now):\(id) \(outcome)") }
                }
                events.append(event)
            }
            let chunk = Chunk(events)
            events = []
            try await emit(chunk)
        }
        try await clock.sleep(until: Instant(nanoseconds: Int64(script.end) * 1_000_000))
        if let failure = script.failure { throw failure }
    }
}

let testOrigin = EventOrigin(source: "test:source", type: "org.example.test", node: "src")

func event(_ data: String, id: String) -> Event { Event(origin: testOrigin, id: Bytes(id), data: Bytes(data)) }

/// What is wrong with a node's options: `line:column code message`, sorted.
func mistakes<S: Stage>(_ type: S.Type, _ with: String) throws -> [String] {
    let (parsed, broken) = ConfigText.parse(Bytes("{\"with\":\n\(with)}"))
    guard let node = parsed, broken.isEmpty else { throw FeedbusError("test", "\(broken)") }
    let context = OptionContext(owner: S.name, environment: [:], readFile: { _ in nil })
    var (options, problems) = S.Options.decode(node["with"], owner: node, context: context)
    if problems.isEmpty {
        let checking = OptionCheck(
            owner: S.name, node: node, directory: "/", environment: [:], isExecutable: { _ in false })
        S.check(options, checking)
        problems = checking.problems
    }
    return problems.sorted { $0.position < $1.position }.map {
        "\($0.position.line):\($0.position.column) \($0.code) \($0.message)"
            + ($0.suggestion.map { "; did you mean \"\($0)\"?" } ?? "")
    }
}
