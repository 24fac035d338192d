// feedbus: a subject whose events are in a log on disk: each reader has a place of its own in it, also after a restart.

import FeedbusBase
import FeedbusFlow
import FeedbusLoop
import FeedbusPlugin
import FeedbusStore

/// Runs one durable subject: commits what comes, then hands it on.
///
/// Once a chunk is committed its sources have delivered it: the receipts that the events brought are let go. To each
/// reader goes a copy with a receipt of that reader's own, which moves its place in the log. A reader that keeps up gets
/// the chunk from memory; one that is behind reads from the log, and holds up nobody.
actor DurableSubject {
    nonisolated let node: PlannedNode
    nonisolated let edge: Edge<Event>
    private let retention: Retention
    private let store: StateStore
    private let log: Log
    private let clock: any EventClock
    private let host: any LoopHost
    private let counters: NodeCounters
    /// The program has been told to stop: what is in the log can wait for the next start.
    private let isStopping: @Sendable () -> Bool

    private var readers: [DurableReader] = []
    private var codec = EventCodec()
    private var tail = LogTail()
    /// The number of the next event.
    private var next: Int64 = 1
    /// The number of the oldest event that the log has, or `next`.
    private var oldest: Int64 = 1
    /// Nothing more will be committed.
    private var hasEnded = false

    /// The most events of one commit and of one read.
    private static let commitLimit = 4_096
    private static let readLimit = 512
    /// How long to wait for a reader to catch up when the log has reached its limit.
    private static let roomPause: Duration = .milliseconds(100)
    /// The least time between two notices of what one reader missed; the total comes at the end.
    private static let noticeInterval: Duration = .seconds(10)

    nonisolated var unownedExecutor: UnownedSerialExecutor { host.serialExecutor }

    init(
        node: PlannedNode, retention: Retention, edge: Edge<Event>, store: StateStore, log: Log, clock: any EventClock,
        host: any LoopHost, counters: NodeCounters, isStopping: @escaping @Sendable () -> Bool
    ) {
        self.node = node
        self.retention = retention
        self.edge = edge
        self.store = store
        self.log = log
        self.clock = clock
        self.host = host
        self.counters = counters
        self.isStopping = isStopping
    }

    /// Adds a reader, before `run()`.
    /// - Returns: the ledger of its cursors, to be settled at the end.
    func add(
        _ name: String, resume: ResumePoint, log: Log, deliver: @escaping @Sendable (Chunk<Event>) async throws -> Void,
        finish: @escaping @Sendable () -> Void
    ) -> CursorLedger {
        let keeper = CursorKeeper(log: log, clock: clock, host: host) { [weak self] saved in
            // The ledger below is the only one of this keeper.
            guard let last = saved.last?.cursors.last?.value, let acked = Int64(last.string) else { return }
            try await self?.save(acked, of: name)
        }
        let ledger = CursorLedger(node: name, keeper: keeper, isKept: true)
        readers.append(DurableReader(name: name, resume: resume, ledger: ledger, deliver: deliver, finish: finish))
        return ledger
    }

    private func save(_ acked: Int64, of name: String) async throws {
        try await store.saveReader(name, of: node.name, acked: acked)
        readers.first { $0.name == name }?.acked = acked
    }

    // MARK: - Running

    /// Runs until everything that came is committed and every reader has had what it will get in this run.
    func run() async -> NodeEnd {
        var end = NodeEnd.completed
        do {
            try await open()
        } catch {
            end = failure(error, "the log cannot be opened")
        }
        let pumps = readers.indices.map { number in
            host.task { await self.pump(number) }
        }
        if case .completed = end { end = await commitAll() }
        hasEnded = true
        for reader in readers { reader.wake() }
        await withCancellation {
            for pump in pumps { _ = try? await pump.value }
        } onCancel: {
            for pump in pumps { pump.cancel() }
        }
        if case .completed = end {} else { await discardRest() }
        return end
    }

    /// Says what became of the events, when every receipt has settled and every place is saved, or nobody waits for that
    /// any more.
    /// - Returns: for each reader how many events the log has for it at the next start.
    func close() async -> [(reader: String, kept: Int)] {
        for reader in readers where !reader.isDone {
            // What it had in hand was no loss yet when the limit took it out of the log: it might still deliver it.
            let lost = reader.ledger.undelivered(before: oldest)
            if lost > 0 {
                counters.dropped.add(lost)
                log.warning(
                    "\(reader.name) missed \(counted(lost, "event")) that it had in hand and did not deliver: the log no"
                        + " longer has them (drop_oldest)")
            }
            // Said and counted: the next start has nothing to say of them.
            if reader.acked < oldest - 1 { try? await save(oldest - 1, of: reader.name) }
        }
        let missed = counters.dropped.get()
        if missed > 0 { log.warning("its readers missed \(counted(missed, "event")) in all") }
        let kept = readers.map { (reader: $0.name, kept: Int(next - max($0.acked + 1, oldest))) }.filter { $0.kept > 0 }
        for (reader, count) in kept {
            log.info("\(reader) has \(counted(count, "event")) to come, kept in the log until the next start")
        }
        return kept
    }

    private func open() async throws {
        let position = try await insisting("the log cannot be opened") { [self] in
            try await store.openSubject(node.name, readers: readers.map(\.name), replay: retention.replay)
        }
        next = position.next
        oldest = position.first
        for reader in readers {
            let acked = position.acked[reader.name] ?? position.next - 1
            if acked + 1 < position.first {
                log.warning(
                    "\(reader.name) missed \(counted(Int(position.first - acked - 1), "event")): the log no longer has them"
                )
                // Said once; where it cannot be saved, once more at the next start.
                try? await store.saveReader(reader.name, of: node.name, acked: position.first - 1)
            }
            reader.acked = max(acked, position.first - 1)
            if reader.resume == .replay {
                reader.acked = min(reader.acked, max(position.first, position.next - Int64(retention.replay)) - 1)
            }
            reader.next = reader.acked + 1
            let behind = position.next - reader.next
            if behind > 0 {
                log.debug("\(reader.name) begins \(counted(Int(behind), "event")) before the end of the log")
            }
        }
        for (name, acked) in position.away.sorted(by: { $0.key < $1.key }) {
            log.info(
                "\(name) reads it no more; its place (\(position.next - 1 - acked) events before the end) is kept,"
                    + " the events are not kept for it")
        }
    }

    private func commitAll() async -> NodeEnd {
        while true {
            let chunk: Chunk<Event>?
            do { chunk = try await edge.next(max: Self.commitLimit) } catch { return .stopped }
            guard let chunk else { return .completed }
            var rest = chunk
            var parts = codec.encode(chunk)[...]
            while !rest.isEmpty {
                // More at once would make the log larger than its limit, whatever goes before.
                var size = parts.first!.size
                let count =
                    1
                    + parts.dropFirst().prefix {
                        size += $0.size
                        return size <= retention.limit
                    }.count
                do {
                    try await commit(rest.prefix(count), Array(parts.prefix(count)))
                } catch {
                    rest.report(.undelivered)
                    counters.undelivered.add(rest.count)
                    return failure(error, "its events cannot be written")
                }
                rest = rest.dropFirst(count)
                parts = parts.dropFirst(count)
            }
        }
    }

    private func commit(_ chunk: Chunk<Event>, _ parts: [StoredEvent]) async throws {
        let done = try await insisting("its events cannot be written") { [self] in
            try await store.append(
                parts, to: node.name, next: next, floor: floor, retention: retention, now: clock.wallTime)
        }
        oldest = done.oldest
        if let before = done.droppedBefore { countDropped(before: before) }
        next = done.first + Int64(chunk.count)
        counters.delivered.add(chunk.count)
        // From here on the log answers for them: the receipts go with `chunk`.
        tail.append(
            Chunk(
                chunk.map { event in
                    var event = event
                    event.receipt = nil
                    return event
                }), first: done.first)
        for reader in readers { reader.wake() }
    }

    /// Every reader has had all before this number.
    private var floor: Int64 {
        readers.filter { !$0.isDone }.map { $0.acked + 1 }.min() ?? next
    }

    private func countDropped(before oldest: Int64) {
        for reader in readers where !reader.isDone && reader.next < oldest {
            let count = Int(oldest - reader.next)
            reader.next = oldest
            counters.dropped.add(count)
            reader.unsaid += count
            // The first at once, then the sum: there may be many commits a second.
            let now = clock.now
            if let last = reader.lastNotice, now - last < Self.noticeInterval { continue }
            log.warning(
                "the log has reached its limit (\(ByteSize.text(retention.limit))): \(reader.name) missed"
                    + " \(counted(reader.unsaid, "event")) (drop_oldest)")
            reader.lastNotice = now
            reader.unsaid = 0
        }
    }

    /// Tries until it succeeds, where that can help: a full disk, a log that has reached its limit.
    private func insisting<Result: Sendable>(
        _ what: String, _ operation: () async throws -> Result
    ) async throws -> Result {
        let pauses = RetryPolicy(base: .milliseconds(250), cap: .seconds(10), jitter: false)
        var failures = 0
        while true {
            do {
                let result = try await operation()
                if failures > 0 { log.info("the log is written again, after \(counted(failures, "failure"))") }
                return result
            } catch {
                guard let error = error as? FeedbusError, error.isRetriable else { throw error }
                failures += 1
                if failures == 1 {
                    let slowest = readers.filter { !$0.isDone }.min { $0.acked < $1.acked }
                    let who = error.code == "state.full" ? slowest.map { " (\($0.name))" } ?? "" : ""
                    log.error("\(what): \(error.message)\(who); waiting, its sources wait as well")
                }
                try await clock.sleep(
                    for: error.code == "state.full"
                        ? Self.roomPause : pauses.pause(afterAttempt: failures, unit: 1))
            }
        }
    }

    private func failure(_ error: any Error, _ what: String) -> NodeEnd {
        error is CancellationError ? .stopped : .failed("\(what): \(describeError(error))")
    }

    /// A failed subject takes in what comes, so that others go on, and says that it is not delivered.
    private func discardRest() async {
        while let chunk = try? await edge.next() { counters.undelivered.add(chunk.leave()) }
    }

    // MARK: - Readers

    /// Hands events to a reader for as long as there are any for it in this run.
    private func pump(_ number: Int) async {
        let reader = readers[number]
        let deliver = reader.deliver
        while let events = await nextPart(for: reader) {
            var number = reader.next
            // A receipt for each: after a stop in the middle of a chunk nothing comes twice.
            let chunk = Chunk(
                events.map { event in
                    var event = event
                    event.receipt = reader.ledger.receipt(
                        saving: [CursorUpdate("acked", Bytes(String(number)))], place: number)
                    number += 1
                    return event
                })
            reader.next = number
            releaseTail()
            do {
                try await deliver(chunk)
            } catch is CancellationError {
                chunk.report(.undelivered)
                break
            } catch {
                // The reader has come to its own end.
                reader.isDone = true
                releaseTail()
                break
            }
        }
        reader.finish()
    }

    private func releaseTail() {
        tail.release(before: readers.filter { !$0.isDone }.map(\.next).min() ?? next)
    }

    /// The next events of a reader, from memory or from the log; nil when none will come in this run.
    private func nextPart(for reader: DurableReader) async -> Chunk<Event>? {
        while !Task.isCancelled {
            // It failed on an event that is still in the log: the next start begins there.
            if reader.ledger.isHeldBack { return nil }
            if reader.next < next {
                if let events = tail.events(from: reader.next, most: Self.readLimit) { return events }
                if isStopping() { return nil }
                do {
                    if let events = try await readLog(for: reader) { return events }
                    continue
                } catch {
                    log.error("\(reader.name) gets no more: the log cannot be read: \(describeError(error))")
                    return nil
                }
            }
            if hasEnded { return nil }
            await withCheckedContinuation { reader.waiter = $0 }
        }
        return nil
    }

    private func readLog(for reader: DurableReader) async throws -> Chunk<Event>? {
        let wanted = reader.next
        let part = try await store.events(of: node.name, from: wanted, most: Self.readLimit)
        // The limit may have moved it meanwhile.
        guard reader.next == wanted else { return nil }
        let first = part?.first ?? next
        if first > wanted {
            counters.dropped.add(Int(first - wanted))
            log.error("\(reader.name) missed \(counted(Int(first - wanted), "event")): the log no longer has them")
            reader.next = first
        }
        return part.map { Chunk(codec.decode($0.events)) }
    }
}
