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

    static let kinds: Set = ["hot", "cold", "sync", "publish", "publishSerialized", "replay"]

    init(_ description: MarbleValue, _ inputs: [MarbleCase.Input], clock: any EventClock) {
        kind = description["kind"]!.string!
        self.inputs = inputs
        self.clock = clock
        let replay = kind == "replay" ? description["buffer"]?.int ?? 1000 : 0
        state = Mutex(State(subject: Subject(replay: replay, scope: .forever)))
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
            } else {
                let subject = self.state.withLock { $0.subject }
                try await subject.flow(capacity: 10_000).collect(emit)
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
            let chunk = Chunk(pending)
            pending = []
            try await emit(chunk)
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

    /// A hot or subject source emits.
    func push(next: MarbleValue? = nil, complete: Bool = false, error: String? = nil) async {
        let subject = state.withLock { $0.subject }
        if let next { try? await subject.send(Chunk(one: next)) }
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
