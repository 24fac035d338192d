// feedbus: when the polls of a graph's sources are due.

import FeedbusBase
import FeedbusHTTP
import FeedbusLoop
import Synchronization

/// Somebody who is called when the time has come.
protocol PollCaller: AnyObject, Sendable {
    /// Whom its poll asks; nil where it does not poll any more.
    var service: PollService? { get }
    /// The poll is due, and may begin; `ended` must follow it, also where nothing is done.
    func pollIsDue(_ service: PollService)
}

/// Wakes sources for their polls. One task sleeps for all of them, as each sleeping task of its own would cost some KB.
///
/// Of one service, only so many polls are under way at a time: those beyond wait here, without a task, and all that a poll
/// needs while it waits for a connection is needed so many times at most.
final class PollTimetable: Sendable {
    fileprivate struct Entry {
        var due: Instant
        var number: UInt64
        var caller: any PollCaller

        func isBefore(_ other: Entry) -> Bool {
            due != other.due ? due < other.due : number < other.number
        }
    }

    fileprivate struct State {
        var heap: [Entry] = []
        var line = FairLine<PollService, any PollCaller>(mostAtPlace: PollTimetable.mostOfService, most: .max)
        var lastNumber: UInt64 = 0
        /// What the task that sleeps now waits for.
        var wakesAt: Instant?
        var sleeper: Task<Void, any Error>?
        /// So many were under way at a time that their memory is worth giving back.
        var wasCrowded = false
        var isStopped = false
    }

    /// Polls of one service that are under way. Several times the connections to a host, so that those are always busy.
    static let mostOfService = 128
    /// Polls at a time after which the memory that they needed is given back.
    private static let crowd = 64

    private let clock: any EventClock
    private let host: any LoopHost
    /// Called after a crowd: memory that only it needed can go back.
    private let crowdHasGone: @Sendable () -> Void
    private let state = Mutex(State())

    init(clock: any EventClock, host: any LoopHost, crowdHasGone: @escaping @Sendable () -> Void) {
        self.clock = clock
        self.host = host
        self.crowdHasGone = crowdHasGone
    }

    /// Calls `caller` at `due`, once. After `stop` it does nothing.
    func add(_ caller: any PollCaller, at due: Instant) {
        let isFirst = state.withLock { state in
            guard !state.isStopped else { return false }
            state.lastNumber += 1
            state.heap.append(Entry(due: due, number: state.lastNumber, caller: caller))
            state.siftUp(state.heap.count - 1)
            return state.wakesAt.map { due < $0 } ?? true
        }
        if isFirst { sleep(until: due) }
    }

    /// A poll is over: the next one of the service may begin.
    func ended(_ service: PollService) {
        let (next, hasGone) = state.withLock { state in
            let next = state.line.leave(service)?.waiting
            let hasGone = state.wasCrowded && state.line.isIdle
            if hasGone { state.wasCrowded = false }
            return (next, hasGone)
        }
        next?.pollIsDue(service)
        if hasGone { crowdHasGone() }
    }

    /// Forgets everybody; they are called no more.
    func stop() {
        let sleeper = state.withLock { state in
            state.isStopped = true
            state.heap = []
            _ = state.line.removeAll()
            return state.sleeper.take()
        }
        sleeper?.cancel()
    }

    // MARK: - Inside

    private func sleep(until due: Instant) {
        let clock = clock
        let task = host.task {
            try await clock.sleep(until: due)
            self.wake(from: due)
        }
        let old = state.withLock { state in
            defer {
                state.sleeper = task
                state.wakesAt = due
            }
            return state.sleeper
        }
        old?.cancel()
    }

    private func wake(from due: Instant) {
        let now = clock.now
        let (callers, next) = state.withLock { state in
            var callers: [any PollCaller] = []
            // Another one may sleep for an earlier time by now.
            guard state.wakesAt == due, !state.isStopped else { return (callers, Instant?.none) }
            state.sleeper = nil
            state.wakesAt = nil
            while let first = state.heap.first, first.due <= now { callers.append(state.popFirst(first).caller) }
            return (callers, state.heap.first?.due)
        }
        for caller in callers {
            guard let service = caller.service else { continue }
            let begins = state.withLock { state in
                guard !state.isStopped else { return false }
                state.lastNumber += 1
                let begins = state.line.enter(state.lastNumber, at: service, caller)
                if state.line.underWay >= Self.crowd { state.wasCrowded = true }
                return begins
            }
            if begins { caller.pollIsDue(service) }
        }
        if let next { sleepUnlessEarlier(next) }
    }

    /// A poll that began just now may have come to its next one already.
    private func sleepUnlessEarlier(_ due: Instant) {
        let isFirst = state.withLock { $0.wakesAt.map { due < $0 } ?? !$0.isStopped }
        if isFirst { sleep(until: due) }
    }
}

extension PollTimetable.State {
    fileprivate mutating func siftUp(_ start: Int) {
        var index = start
        while index > 0, heap[index].isBefore(heap[(index - 1) / 2]) {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    /// Takes out the first entry.
    fileprivate mutating func popFirst(_ first: PollTimetable.Entry) -> PollTimetable.Entry {
        let last = heap.removeLast()
        guard !heap.isEmpty else { return first }
        heap[0] = last
        var index = 0
        while true {
            var smallest = index
            for child in [2 * index + 1, 2 * index + 2] where child < heap.count && heap[child].isBefore(heap[smallest])
            {
                smallest = child
            }
            if smallest == index { return first }
            heap.swapAt(index, smallest)
            index = smallest
        }
    }
}
