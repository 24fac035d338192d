// feedbus: the sources of the marble cases.

import FeedbusBase
import FeedbusFlow
import Synchronization

/// One source of a case: what it emits, and who was subscribed when.
final class MarbleSource: Sendable {
    struct State {
        var subscriptions: [[Int?]] = []
        /// Hot and subject sources: renewed by a hot one at its end, which it does not replay.
        var subject: Subject<MarbleValue>
    }

    let kind: String
    let inputs: [MarbleCase.Input]
    let clock: any EventClock
    let state: Mutex<State>

    /// What is pushed before anybody listens, of a source that queues.
    let queue: Edge<MarbleValue>?
    /// Cuts what comes at one moment into chunks; nil: one chunk.
    let random: Mutex<SplitMix64?>

    static let kinds: Set = [
        "hot", "cold", "sync", "publish", "publishSerialized", "replay", "behavior", "behaviorSerialized", "async",
        "queue", "allOrNothing",
    ]

    init(
        _ description: MarbleValue, _ inputs: [MarbleCase.Input], clock: any EventClock, random: SplitMix64? = nil
    ) {
        kind = description["kind"]!.string!
        self.inputs = inputs
        self.clock = clock
        self.random = Mutex(random)
        queue = kind == "queue" ? Edge(capacity: description["buffer"]!.int!, policy: .dropNewest) : nil
        let buffer = description["buffer"]?.int ?? 1000
        let subject: Subject<MarbleValue> =
            switch kind {
            case "replay" where description["window_ms"] != nil:
                .replay(buffer, for: .milliseconds(description["window_ms"]!.int!), clock: clock)
            case "replay": Subject(replay: buffer, scope: .forever)
            case "behavior", "behaviorSerialized": .current(description["initial"]!)
            case "async": .last()
            default: Subject(scope: .forever)
            }
        state = Mutex(State(subject: subject))
    }

    private var now: Int { Int(clock.now.nanoseconds / 1_000_000) }

    var subscriptions: [[Int?]] { state.withLock { $0.subscriptions } }

    /// Times are counted from each subscription.
    var isCold: Bool { kind == "cold" || kind == "sync" }

    var flow: MarbleFlow {
        Flow { emit in
            let index = self.state.withLock { [now = self.now] state in
                state.subscriptions.append([now, nil])
                return state.subscriptions.count - 1
            }
            defer { self.release(index) }
            if self.isCold {
                try await self.play(attempt: index, emit)
            } else if let queue = self.queue {
                while let chunk = try await queue.next() { try await emit(chunk) }
            } else {
                let subject = self.state.withLock { $0.subject }
                try await subject.flow(capacity: self.kind == "allOrNothing" ? 0 : 10_000).collect(emit)
            }
        }
    }

    private func play(attempt: Int, _ emit: @escaping MarbleFlow.Collector) async throws {
        let last = inputs.compactMap(\.attempt).max() ?? 0
        let start = clock.now
        // Events of one moment form a chunk.
        var pending: [MarbleValue] = []
        var moment = 0
        func flush() async throws {
            if pending.isEmpty { return }
            let chunks = cuts(pending)
            pending = []
            for chunk in chunks { try await emit(chunk) }
        }
        for input in inputs where input.attempt == nil || input.attempt == min(attempt, last) {
            if kind == "cold", input.at > moment {
                try await flush()
                try await clock.sleep(until: start + .milliseconds(input.at))
                moment = input.at
            }
            if let next = input.next { pending.append(next) }
            if input.next == nil { try await flush() }
            if let error = input.error { throw TestError(error) }
            if input.complete == true { return }
        }
        try await flush()
        try await Flow<MarbleValue>.never.collect { _ in }
    }

    private func cuts(_ values: [MarbleValue]) -> [Chunk<MarbleValue>] {
        random.withLock { random in
            guard random != nil else { return values.isEmpty ? [] : [Chunk(values)] }
            return cut(values, &random!).map { Chunk($0) }
        }
    }

    /// A hot or subject source emits.
    func push(_ values: [MarbleValue] = [], complete: Bool = false, error: String? = nil) async {
        if let queue { return try! await queue.send(Chunk(values)) }
        let subject = state.withLock { $0.subject }
        for chunk in cuts(values) {
            if kind == "allOrNothing" { _ = try? subject.sendIfRoom(chunk) } else { try? await subject.send(chunk) }
        }
        guard complete || error != nil else { return }
        if kind == "hot" { state.withLock { $0.subject = Subject() } }
        // Its end releases all at once, whatever a subscriber still makes of what it was sent.
        for index in state.withLock({ $0.subscriptions.indices }) { release(index) }
        if let error { subject.fail(TestError(error)) } else { subject.finish() }
    }

    private func release(_ index: Int) {
        state.withLock { [now = self.now] state in
            if state.subscriptions[index][1] == nil { state.subscriptions[index][1] = now }
        }
    }
}
