// feedbus: says which buffer drops events, and how many, without flooding the log.

import FeedbusBase
import FeedbusFlow
import Synchronization

/// Logs the first drop at once, then the sum every ten seconds at most, and the total at the end.
final class DropNotice: Sendable {
    private struct State {
        var sinceNotice = 0
        var lastNotice: Instant?
    }

    private static let interval: Duration = .seconds(10)

    private let policy: OverflowPolicy
    private let log: Log
    private let clock: any EventClock
    private let counters: NodeCounters
    private let state = Mutex(State())

    init(policy: OverflowPolicy, log: Log, clock: any EventClock, counters: NodeCounters) {
        self.policy = policy
        self.log = log
        self.clock = clock
        self.counters = counters
    }

    func dropped(_ count: Int) {
        counters.dropped.add(count)
        let now = clock.now
        let notice: Int? = state.withLock { state in
            state.sinceNotice += count
            if let last = state.lastNotice, now - last < Self.interval { return nil }
            state.lastNotice = now
            defer { state.sinceNotice = 0 }
            return state.sinceNotice
        }
        if let notice { log.warning("buffer full: dropped \(counted(notice, "event")) (\(policy.rawValue))") }
    }

    func finish() {
        let total = counters.dropped.get()
        // A stage also drops what it cannot treat, when its `on_error` says so.
        let reason = policy == .block ? "on_error" : policy.rawValue
        if total > 0 { log.warning("dropped \(counted(total, "event")) in all (\(reason))") }
    }
}
