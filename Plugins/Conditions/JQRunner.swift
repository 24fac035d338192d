// feedbus: runs a jq expression over chunks of events, off the loop.

import FeedbusJQ
public import FeedbusPlugin
import Synchronization

/// One instance of a jq expression for one stage: chunk by chunk, on the thread pool, each event on its own.
///
/// To be used by one caller at a time.
public final class JQRunner: Sendable {
    public let expression: JQExpression
    private let context: PluginContext
    private let limit: Duration
    private let program = Mutex<JQProgram?>(nil)

    /// - Parameter limit: an event that takes longer is stopped, at the latest after twice this time.
    public init(_ expression: JQExpression, context: PluginContext, limit: Duration = .seconds(5)) {
        self.expression = expression
        self.context = context
        self.limit = limit
    }

    /// What became of one input.
    public enum Verdict: Sendable {
        case value(Bool)
        /// Why the event cannot be treated.
        case failed(String)
    }

    /// For each event, whether the expression gives anything but `false` and `null`.
    public func verdicts(for events: Chunk<Event>, on scope: EventScope) async throws -> [Verdict] {
        try await run { [self] program in
            var verdicts: [Verdict] = []
            verdicts.reserveCapacity(events.count)
            program.holds(for: events.map { scope.text(of: $0) }) { _, holds, end in
                verdicts.append(failure(end).map { .failed($0) } ?? .value(holds))
            }
            return verdicts
        }
    }

    /// The outputs of each event as the data of events: the first keeps the event's id, the n-th gets `/n` behind it.
    /// - Returns: the events, and those that failed with the reasons.
    public func outputs(
        of events: Chunk<Event>, on scope: EventScope
    ) async throws -> (events: [Event], failures: [(event: Event, reason: String)]) {
        try await run { [self] program in
            var writer = ByteWriter(capacity: 4096)
            var batch = OutputBatch(capacity: events.count)
            var failures: [(event: Event, reason: String)] = []
            program.run(events.map { scope.text(of: $0) }, into: &writer) { writer, index, outputs, end in
                if let reason = failure(end) {
                    failures.append((events[index], reason))
                } else {
                    batch.add(events[index], outputs, in: &writer)
                }
            }
            return (batch.finish(&writer), failures)
        }
    }

    /// Runs `body` on the thread pool with a function that gives the outputs of a text, or why there are none.
    public func eachAlone<Result: Sendable>(
        _ body: @escaping @Sendable (_ run: (Bytes) -> (outputs: [Bytes], failure: String?)) throws -> Result
    ) async throws -> Result {
        try await run { [self] program in
            try body { text in
                var writer = ByteWriter()
                var result: (outputs: [Bytes], failure: String?) = ([], nil)
                program.run([text], into: &writer) { writer, _, outputs, end in
                    result.failure = failure(end)
                    if outputs.isEmpty { return }
                    let bytes = writer.finish()
                    result.outputs = outputs.map { bytes[$0] }
                }
                return result
            }
        }
    }

    /// Runs `body` on the thread pool with the program.
    func run<Result: Sendable>(
        _ body: @escaping @Sendable (JQProgram) throws -> Result
    ) async throws -> Result {
        let program = try await ownProgram()
        let watch = program.watch
        let looking = context.task { [self] in await look(watch) }
        defer { looking.cancel() }
        let result = try await withCancellation {
            try await context.host.offload { try body(program) }
        } onCancel: {
            // jq knows nothing of cancellation: a call beyond the node's `timeout` would go on for as long as it likes.
            watch.giveUp()
        }
        // What was given up is no fault of its events: they are left undelivered.
        if watch.isGivenUp { throw CancellationError() }
        return result
    }

    /// Looks after a program until it is through.
    private func look(_ watch: JQWatch) async {
        do {
            while true {
                try await context.clock.sleep(for: limit)
                watch.look()
            }
        } catch {}
        // It is through; or else the program stops, and the clock lets nobody wait beyond the grace: then to its very end.
        do {
            while true { try await context.clock.sleep(for: .milliseconds(50)) }
        } catch {
            if !Task.isCancelled { watch.giveUp() }
        }
    }

    private func ownProgram() async throws -> JQProgram {
        if let known = program.withLock({ $0 }) { return known }
        let expression = self.expression
        let made = try await context.host.offload { try expression.program() }
        program.withLock { $0 = made }
        return made
    }

    /// Why an event cannot be treated; nil where nothing went wrong.
    func failure(_ end: JQEnd) -> String? {
        switch end {
        case .done: nil
        case .failed(let message): expression.failure(message)
        case .halted: expression.failure("it took longer than \(limit.text) and was stopped")
        }
    }
}

/// The outputs of a chunk in a few shared buffers.
private struct OutputBatch: ~Copyable {
    /// A buffer of more bytes is finished before the next event.
    private static let enough = 1 << 20

    private var events: [Event] = []
    /// The outputs in the writer: of which event, which of its outputs, and where.
    private var open: [(event: Event, number: Int, range: Range<Int>)] = []

    init(capacity: Int) {
        events.reserveCapacity(capacity)
        open.reserveCapacity(capacity)
    }

    /// Takes in the outputs of one event.
    mutating func add(_ event: Event, _ outputs: [Range<Int>], in writer: inout ByteWriter) {
        for (index, range) in outputs.enumerated() { open.append((event, index + 1, range)) }
        if writer.count > OutputBatch.enough { close(&writer) }
    }

    private mutating func close(_ writer: inout ByteWriter) {
        let bytes = writer.finish()
        for (event, number, range) in open {
            var event = event
            event.data = bytes[range]
            if number > 1 { event.id = Bytes("\(event.id.string)/\(number)") }
            events.append(event)
        }
        open.removeAll(keepingCapacity: true)
    }

    mutating func finish(_ writer: inout ByteWriter) -> [Event] {
        close(&writer)
        return events
    }
}
