// feedbus: says which events a plugin refused, and why, without flooding the log.

import FeedbusBase
import FeedbusFlow
import FeedbusPlugin
import Synchronization

/// Logs the first refusals one by one, then the sum every ten seconds at most with the newest as an example, and the total
/// at the end.
final class RefusalNotice: Sendable {
    private struct State {
        var said = 0
        var sinceNotice = 0
        var lastNotice: Instant?
    }

    private static let interval: Duration = .seconds(10)
    private static let oneByOne = 5

    private let log: Log
    private let clock: any EventClock
    private let counters: NodeCounters
    private let state = Mutex(State())

    init(log: Log, clock: any EventClock, counters: NodeCounters) {
        self.log = log
        self.clock = clock
        self.counters = counters
    }

    func refused(_ event: Event, _ reason: String) {
        counters.refused.add(1)
        let now = clock.now
        let notice: Int? = state.withLock { state in
            if state.said < Self.oneByOne {
                state.said += 1
                state.lastNotice = now
                return 1
            }
            state.sinceNotice += 1
            if let last = state.lastNotice, now - last < Self.interval { return nil }
            state.lastNotice = now
            defer { state.sinceNotice = 0 }
            return state.sinceNotice
        }
        guard let notice else { return }
        let last = "event \(event.id.string): \(reason)"
        log.warning(notice == 1 ? "refused \(last)" : "refused \(counted(notice, "event")) more, the last one \(last)")
    }

    func finish() {
        let total = counters.refused.get()
        if total > 0 { log.warning("refused \(counted(total, "event")) in all") }
    }
}
