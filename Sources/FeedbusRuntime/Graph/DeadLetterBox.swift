// feedbus: takes the events that a node could not treat, and sets them aside in the store.

import FeedbusBase
import FeedbusFlow
import FeedbusLoop
import FeedbusPlugin
import FeedbusStore
import Synchronization

/// The dead letters of one node. An event that is in the store is settled, so that its source may go on; where the store
/// does not take it, it is left undelivered.
final class DeadLetterBox: Sendable {
    private struct Waiting: Sendable {
        /// Nil for a text that is no event.
        var event: Event?
        var raw = Bytes()
        var reason: String
    }

    private struct State {
        var codec = EventCodec()
        var queue: [Waiting] = []
        var weight = 0
        var isWriting = false
        var idleWaiters: [CheckedContinuation<Void, Never>] = []
        var sinceNotice = 0
        var lastNotice: Instant?
        var saidFull = false
        /// A text that is no event was left: no receipt tells its source.
        var hasLeftText = false
        var saidDropped = false
    }

    /// Refused events that may wait for the store; what is beyond is left undelivered.
    private static let waitingLimit = 16_384
    private static let weightLimit = 16 << 20
    private static let noticeInterval: Duration = .seconds(10)
    /// The most letters of one commit.
    private static let commitLimit = 1_024

    private let node: String
    private let store: StateStore
    private let cap: DeadLetterCap
    private let log: Log
    private let clock: any EventClock
    private let host: any LoopHost
    private let counters: NodeCounters
    private let authors: LetterAuthors
    private let state = Mutex(State())

    init(
        node: String, store: StateStore, cap: DeadLetterCap, log: Log, clock: any EventClock, host: any LoopHost,
        counters: NodeCounters, authors: LetterAuthors
    ) {
        self.node = node
        self.store = store
        self.cap = cap
        self.log = log
        self.clock = clock
        self.host = host
        self.counters = counters
        self.authors = authors
        authors.add(node, counters)
    }

    /// Sets all events of a chunk aside; returns when that is done, or could not be.
    func put(_ chunk: Chunk<Event>, reason: String) async {
        var rest = chunk
        while !rest.isEmpty {
            let part = rest.prefix(Self.commitLimit)
            rest = rest.dropFirst(part.count)
            let taken = await write(part.map { Waiting(event: $0, reason: reason) })
            if taken > 0 { say(taken, reason) }
        }
    }

    /// Sets one event aside, soon; to be counted and said by the caller. The source does not go on before that is done.
    func add(_ event: Event, reason: String) { add(Waiting(event: event, reason: reason), weight: event.weight) }

    /// Sets aside a text that is no event.
    func add(raw text: Bytes, reason: String) {
        add(Waiting(event: nil, raw: text.compacted(), reason: reason), weight: text.count)
    }

    private func add(_ one: Waiting, weight: Int) {
        let (isTaken, start) = state.withLock { state in
            guard state.queue.count < Self.waitingLimit,
                state.weight + weight <= Self.weightLimit || state.queue.isEmpty
            else { return (false, false) }
            state.queue.append(one)
            state.weight += weight
            defer { state.isWriting = true }
            return (true, !state.isWriting)
        }
        if !isTaken { leave([one], "more come than the store can take") }
        guard start else { return }
        host.task { [self] in await writeQueue() }
    }

    private func writeQueue() async {
        while true {
            let batch = state.withLock { state in
                let batch = Array(state.queue.prefix(Self.commitLimit))
                state.queue.removeFirst(batch.count)
                if state.queue.isEmpty { state.weight = 0 }
                if batch.isEmpty { state.isWriting = false }
                return batch
            }
            if batch.isEmpty { break }
            _ = await write(batch)
        }
        let waiters = state.withLock { state in
            defer { state.idleWaiters = [] }
            return state.idleWaiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns when nothing waits for the store any more.
    func settle() async {
        await withCheckedContinuation { continuation in
            let now = state.withLock { state in
                if state.isWriting { state.idleWaiters.append(continuation) }
                return !state.isWriting
            }
            if now { continuation.resume() }
        }
    }

    /// Waits for the store.
    /// - Returns: false where it did not take one of the texts that are no events.
    func textsAreSettled() async -> Bool {
        await settle()
        return state.withLock { !$0.hasLeftText }
    }

    /// - Returns: how many are in the store.
    private func write(_ batch: [Waiting]) async -> Int {
        let now = clock.wallTime
        let letters = state.withLock { state in
            batch.map { one in
                DeadLetter(
                    node: node, reason: one.reason, at: now,
                    body: one.event.map { .event(state.codec.encode($0)) } ?? .raw(one.raw))
            }
        }
        do {
            let taken = try await store.add(letters, cap: cap)
            for one in batch.prefix(taken.settled) { one.event?.receipt?.report(.deadLettered) }
            counters.deadLettered.add(taken.settled)
            counters.deadTexts.add(batch.prefix(taken.settled).count { $0.event == nil })
            if taken.dropped > 0 { countDropped(taken) }
            if taken.settled < batch.count {
                leave(
                    Array(batch[taken.settled...]),
                    "the store has \(cap.events) of them, or \(ByteSize.text(cap.bytes)) (when_full: block);"
                        + " \"feedbus replay --dead-letters\" sends events again, \"feedbus state reset --dead-letters\" forgets"
                        + " all, texts too: either makes room")
            }
            return max(0, taken.settled - (taken.gone[node]?.count ?? 0))
        } catch {
            leave(batch, describeError(error))
            return 0
        }
    }

    /// The store does not take them.
    private func leave(_ batch: [Waiting], _ reason: String) {
        let left = batch.compactMap(\.event)
        counters.undelivered.add(Chunk(left).leave() + batch.count - left.count)
        let isFirst = state.withLock { state in
            defer { state.saidFull = true }
            if left.count < batch.count { state.hasLeftText = true }
            return !state.saidFull
        }
        if isFirst { log.error("the store of dead letters does not take \(counted(batch.count, "event")): \(reason)") }
    }

    /// The first ones at once, then the sum every ten seconds at most.
    private func say(_ count: Int, _ reason: String) {
        let now = clock.now
        let notice: Int? = state.withLock { state in
            state.sinceNotice += count
            if let last = state.lastNotice, now - last < Self.noticeInterval { return nil }
            state.lastNotice = now
            defer { state.sinceNotice = 0 }
            return state.sinceNotice
        }
        if let notice { log.warning("\(counted(notice, "event")) set aside as dead letters: \(reason)") }
    }

    private func countDropped(_ taken: DeadLettersTaken) {
        authors.dropped(taken.gone)
        // The others are of earlier runs: whoever pushed them out answers for them.
        counters.lettersDropped.add(taken.dropped - taken.gone.values.reduce(0) { $0 + $1.count })
        let isFirst = state.withLock { state in
            defer { state.saidDropped = true }
            return !state.saidDropped
        }
        guard isFirst else { return }
        log.error(
            "the store of dead letters is full: \(counted(taken.dropped, "letter")) dropped (\(cap.whenFull.rawValue)); the sum comes"
                + " at the end")
    }

    func finish() {
        let dropped = counters.lettersDropped.get()
        if dropped > 0 { log.error("dropped \(counted(dropped, "dead letter")) in all (\(cap.whenFull.rawValue))") }
        let texts = counters.deadTexts.get()
        let events = counters.deadLettered.get() - texts
        if events > 0 {
            log.warning(
                "\(counted(events, "event")) set aside as dead letters in all; \"feedbus replay --dead-letters --node \(node)\""
                    + " sends them again")
        }
        if texts > 0 {
            log.warning(
                "\(counted(texts, "text")) that \(texts == 1 ? "is no event" : "are no events") set aside as dead letters in"
                    + " all; \"feedbus state export\" shows them")
        }
    }
}
