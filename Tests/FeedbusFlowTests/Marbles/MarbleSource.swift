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

    /// When the case begins.
    let origin: Instant
    /// What is pushed before anybody listens, of a source that queues.
    let queue: Edge<MarbleValue>?
    private let cuts: MarbleCuts

    static let kinds: Set = [
        "hot", "cold", "sync", "publish", "publishSerialized", "replay", "behavior", "behaviorSerialized", "async",
        "queue", "queueOnce", "allOrNothing",
    ]

    init(
        _ description: MarbleValue, _ inputs: [MarbleCase.Input], clock: any EventClock, origin: Instant,
        cuts: MarbleCuts
    ) {
        kind = description["kind"]?.string ?? "hot"
        self.inputs = inputs
        self.clock = clock
        self.origin = origin
        self.cuts = cuts
        queue =
            kind.hasPrefix("queue") ? Edge(capacity: description["buffer"]?.int ?? 256, policy: .dropNewest) : nil
        let buffer = description["buffer"]?.int ?? .max
        let subject: Subject<MarbleValue> =
            switch kind {
            case "replay" where description["window_ms"] != nil:
                .replay(buffer, for: .milliseconds(description["window_ms"]?.int ?? 0), clock: clock)
            case "replay": Subject(replay: buffer, scope: .forever)
            case "behavior", "behaviorSerialized": .current(description["initial"] ?? .null)
            case "async": .last()
            default: Subject(scope: .forever)
            }
        state = Mutex(State(subject: subject))
    }

    private var now: Int { Int((clock.now - origin) / .milliseconds(1)) }

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
                // Reactor: it shuts down when its last subscriber has left.
                if self.kind == "queueOnce", index > 0 { return }
                while let chunk = try await queue.next() { try await emit(chunk) }
            } else {
                let subject = self.state.withLock { $0.subject }
                try await subject.flow(capacity: self.kind == "allOrNothing" ? 0 : 10_000).collect(emit)
            }
        }
    }

    /// What a cold source does at one moment.
    private struct Moment: Sendable {
        var at: Int
        var values: [MarbleValue] = []
        var error: TestError?
        var isEnd = false
    }

    /// One moment for each event, or, where chunks are cut, for all values of one time.
    private func moments(attempt: Int) -> [Moment] {
        let last = inputs.compactMap(\.attempt).max() ?? 0
        var moments: [Moment] = []
        for input in inputs where input.attempt == nil || input.attempt == min(attempt, last) {
            let at = kind == "sync" ? 0 : input.at
            guard let next = input.next else {
                moments.append(Moment(at: at, error: input.error.map { TestError($0) }, isEnd: true))
                break
            }
            if cuts.joins, moments.last?.at == at {
                moments[moments.count - 1].values.append(next)
            } else {
                moments.append(Moment(at: at, values: [next]))
            }
        }
        return moments
    }

    private func play(attempt: Int, _ emit: @escaping MarbleFlow.Collector) async throws {
        let moments = moments(attempt: attempt)
        let start = clock.now
        if kind == "sync" {
            for moment in moments { try await play(moment, emit) }
        } else {
            // All go to sleep at once: what is due at one time runs in the order in which it was put down.
            try await withThrowingTaskGroup { group in
                for (index, moment) in moments.enumerated() {
                    group.addImmediateTask { [clock] in
                        // At 0: not inside the subscribe call, but right after it.
                        try await clock.sleep(until: start + max(.milliseconds(moment.at), .nanoseconds(1)))
                        return index
                    }
                }
                while let index = try await group.next() { try await self.play(moments[index], emit) }
            }
        }
        if moments.last?.isEnd != true { try await Flow<MarbleValue>.never.collect { _ in } }
    }

    private func play(_ moment: Moment, _ emit: MarbleFlow.Collector) async throws {
        for chunk in cuts.cut(moment.values) { try await emit(chunk) }
        if let error = moment.error { throw error }
    }

    /// A hot or subject source emits.
    func push(_ values: [MarbleValue] = [], complete: Bool = false, error: String? = nil) async {
        if let queue {
            // The queue has room, or drops.
            try? await queue.send(Chunk(values))
            return
        }
        let subject = state.withLock { $0.subject }
        for chunk in cuts.cut(values) {
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
