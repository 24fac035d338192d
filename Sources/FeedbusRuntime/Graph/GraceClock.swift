// feedbus: the clock of stages and sinks: once the program is told to stop, no wait goes beyond the shutdown grace.

import FeedbusBase
import FeedbusLoop
import Synchronization

/// The loop's clock, until a stop: then waits that the grace would cut off anyway end at once with `CancellationError`,
/// and shorter ones go on, so that what can still be delivered is.
final class GraceClock: EventClock {
    private struct Sleeper {
        var deadline: Instant
        var task: Task<Void, any Error>
    }

    private struct State {
        /// When the grace is over; nil before the stop.
        var end: Instant?
        var sleepers: [Int: Sleeper] = [:]
        var lastNumber = 0
    }

    private let base: any EventClock
    private let host: any LoopHost
    private let state = Mutex(State())

    init(_ base: any EventClock, host: any LoopHost) {
        self.base = base
        self.host = host
    }

    var now: Instant { base.now }
    var wallTime: WallTime { base.wallTime }

    /// True from the stop on.
    var isStopping: Bool { state.withLock { $0.end != nil } }

    func sleep(until deadline: Instant) async throws {
        try Task.checkCancellation()
        let task = host.task { [base] in try await base.sleep(until: deadline) }
        let number: Int? = state.withLock { state in
            if let end = state.end, deadline > end { return nil }
            state.lastNumber += 1
            state.sleepers[state.lastNumber] = Sleeper(deadline: deadline, task: task)
            return state.lastNumber
        }
        guard let number else {
            task.cancel()
            throw CancellationError()
        }
        defer { state.withLock { $0.sleepers[number] = nil } }
        try await task.join()
    }

    /// The program stops; what has not come to its end by `end` is given up.
    func stop(by end: Instant) {
        let late = state.withLock { state in
            state.end = end
            // In the order in which they went to sleep: a dictionary's own order differs from run to run.
            return state.sleepers.filter { $0.value.deadline > end }.sorted { $0.key < $1.key }.map(\.value)
        }
        for sleeper in late { sleeper.task.cancel() }
    }
}
