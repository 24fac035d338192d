// feedbus: a hot multicast point with a replay buffer.

public import FeedbusBase
public import Synchronization

/// How long a subject, or a shared flow, remembers.
public enum SubjectScope: String, Sendable, CaseIterable {
    /// It forgets when the last subscriber leaves, on error and on completion, and keeps nothing while nobody listens.
    case whileConnected = "while_connected"
    /// It keeps its replay buffer, also past the last subscriber, completion and error.
    case forever
}

/// A hot multicast point: what is sent goes to all subscribers of that moment, and the last `replay` elements to each
/// one that comes later.
///
/// ```
/// send       1---2-------3---|
/// early      1---2-------3---|
/// late, replay 1    (2)--3---|
/// ```
/// - A subscriber gets the replayed part, then the live part, each element exactly once and in order, also when it joins
///   in the middle of an emission: that chunk then reaches it by replay (or, with replay 0, not at all).
/// - All subscribers see one order. A send that comes during another one, also from inside a subscriber's handler, waits
///   for its turn. A subscriber that feeds its own subject must have room for what it sends: a full edge of policy
///   `.block` would wait for the very handler that sends.
/// - Each subscriber has its own edge. `send` returns when every edge has taken the chunk; the slowest of those that
///   block sets the pace, and each gets as much as it has room for at once. A subscriber that leaves, or fails by its
///   policy, holds nobody up.
/// - A subject that nobody holds any more completes its subscriptions. A collection of `flow()` holds it.
/// - After `finish` or `fail`, sends throw; a late subscriber gets the replayed part (scope `.forever`) and then the
///   terminal event.
///
/// Rx: `PublishSubject` (replay 0), `ReplaySubject` (replay n, `.forever`), `BehaviorSubject` (`current`), `AsyncSubject`
/// (`last`); Combine: `PassthroughSubject`, `CurrentValueSubject`; Kotlin: `MutableSharedFlow`, `MutableStateFlow`.
public final class Subject<Element: Sendable>: Sendable {
    @usableFromInline typealias Machine = SubjectStateMachine<Element>

    @usableFromInline let state: Mutex<Machine>
    @usableFromInline let replay: Int
    @usableFromInline let pace: SubjectPace
    @usableFromInline let retain: (@Sendable (Element) -> Element)?

    /// - Parameter replay: elements that a late subscriber gets, 0...
    public init(replay: Int = 0, scope: SubjectScope = .whileConnected, pace: SubjectPace = .each) {
        precondition(replay >= 0, "the replay of a subject is at least 0")
        self.state = Mutex(Machine(replay: ReplayBuffer(capacity: replay), scope: scope))
        self.replay = replay
        self.pace = pace
        self.retain = nil
    }

    /// - Parameters:
    ///   - replay: elements that a late subscriber gets, 0...
    ///   - retain: makes what is kept for late subscribers out of what was sent.
    public init(
        replay: Int = 0, scope: SubjectScope = .whileConnected, retain: @escaping @Sendable (Element) -> Element
    ) {
        precondition(replay >= 0, "the replay of a subject is at least 0")
        self.state = Mutex(Machine(replay: ReplayBuffer(capacity: replay), scope: scope))
        self.replay = replay
        self.pace = .each
        self.retain = retain
    }

    init(_ machine: consuming sending Machine, replay: Int) {
        self.state = Mutex(machine)
        self.replay = replay
        self.pace = .each
        self.retain = nil
    }

    deinit {
        // Nobody can send any more: whoever still listens would wait for ever.
        run(state.withLock { $0.close(.finished) })
    }

    /// Sends to all subscribers; returns when every edge has taken the chunk, as its policy has it.
    /// - Parameter shielded: cancellation of the caller's task does not end the wait.
    /// - Throws: `EdgeClosed` after `finish` or `fail`. `CancellationError` when an edge was aborted meanwhile, and at
    ///   once when the caller is cancelled and not shielded: subscribers with room have the chunk then, others the part
    ///   that fitted.
    @inlinable
    public func send(_ chunk: Chunk<Element>, shielded: Bool = false) async throws {
        guard !chunk.isEmpty else { return }
        if !shielded { try Task.checkCancellation() }
        let kept = kept(of: chunk)
        let subscribers: [Machine.Subscriber]
        switch state.withLock({ [kept] in $0.send(kept) }) {
        case .ended: throw EdgeClosed()
        case .deliver(let present): subscribers = present
        case .wait(let place):
            try await waitForTurn(place, shielded: shielded)
            subscribers = state.withLock { [kept] in $0.begin(kept) }
        }
        defer { run(state.withLock { $0.endTurn() }) }
        if pace == .slowest, subscribers.count > 1 {
            try await deliverTogether(chunk, to: subscribers, shielded: shielded)
        } else {
            try await deliver(chunk, to: subscribers, shielded: shielded)
        }
    }

    /// Sends to all subscribers if each has room for all of the chunk now, and to nobody otherwise; never waits.
    ///
    /// Where an emission is under way there is no room. Reactor: `multicast().directAllOrNothing()`.
    /// - Returns: whether it was sent.
    /// - Throws: `EdgeClosed` after `finish` or `fail`.
    @inlinable
    public func sendIfRoom(_ chunk: Chunk<Element>) throws -> Bool {
        guard !chunk.isEmpty else { return true }
        let kept = kept(of: chunk)
        switch state.withLock({ $0.sendIfRoom(chunk, kept: kept) }) {
        case .deliver(let subscribers):
            // One whose room has gone since then, because it leaves, waits for nobody.
            for subscriber in subscribers { subscriber.edge.act { _ = $0.offer(chunk, reply: .nobody, &$1) } }
            run(state.withLock { $0.endTurn() })
            return true
        case .ended: throw EdgeClosed()
        case .wait, nil: return false
        }
    }

    /// What late subscribers are to get of a chunk.
    @inlinable
    func kept(of chunk: Chunk<Element>) -> Chunk<Element> {
        let kept = chunk.suffix(replay)
        guard let retain, !kept.isEmpty else { return kept }
        return Chunk(kept.map(retain))
    }

    /// Completes all subscribers, after what was sent before. Without effect on a subject that has ended.
    @inlinable
    public func finish() { run(state.withLock { $0.close(.finished) }) }

    /// Fails all subscribers, after what was sent before. Without effect on a subject that has ended.
    @inlinable
    public func fail(_ error: any Error) { run(state.withLock { $0.close(.failed(error)) }) }

    /// A subscription from this moment on, with an edge of its own.
    /// - Parameters:
    ///   - capacity: elements that the subscriber may be behind, 0... With 0 it takes an element when it asks for one.
    ///   - policy: what happens beyond. A replayed part that is longer than the capacity is no exception, but with
    ///     `.block` it waits for the subscriber without holding up anybody.
    public func subscribe(capacity: Int = 256, policy: OverflowPolicy = .block) -> Subscription<Element> {
        let edge = Edge<Element>(capacity: capacity, policy: policy)
        join(edge)
        return Subscription(edge: edge)
    }

    /// A cold view: each collection subscribes anew and leaves when it ends.
    public func flow(capacity: Int = 256, policy: OverflowPolicy = .block) -> Flow<Element> {
        Flow { emit in
            let edge = Edge<Element>(capacity: capacity, policy: policy)
            self.join(edge)
            defer { edge.close() }
            try await edge.drain(into: emit)
        }
    }

    /// Subscribes an edge that the caller made: the replayed part first, then what is sent. The subject counts as one of
    /// the edge's producers: its end is forwarded. Returns without waiting for the edge's consumer.
    public func attach(_ edge: Edge<Element>) async throws { join(edge) }

    /// Subscribers now.
    public var subscriberCount: Int { state.withLock { $0.subscribers.count } }
}

// MARK: - Inside

extension Subject {
    @usableFromInline
    func join(_ edge: Edge<Element>) {
        var actions = EdgeStateMachine<Element>.Actions()
        let (id, ending) = state.withLock { ($0.join(edge, &actions), $0.ending) }
        edge.run(actions)
        switch ending {
        case nil: edge.whenClosed(SubjectLeaver(self, id: id))
        case .finished: edge.finish()
        case .failed(let error): edge.fail(error)
        }
    }

    @inlinable
    func deliver(_ chunk: Chunk<Element>, to subscribers: [Machine.Subscriber], shielded: Bool) async throws {
        if subscribers.count == 1 {
            do { try await subscribers[0].edge.send(chunk, shielded: shielded) } catch {
                if error is CancellationError { throw error }
            }
            return
        }
        // First all that have room, then wait for the others together: nobody waits for a slower neighbour's room.
        var isAborted = false
        var blocked: [(edge: Edge<Element>, place: UInt64)] = []
        for subscriber in subscribers {
            switch subscriber.edge.offer(chunk) {
            case .taken: break
            case .refused(let error): if error is CancellationError { isAborted = true }
            case .blocked(let place): blocked.append((subscriber.edge, place))
            }
        }
        if !blocked.isEmpty { try await SubjectLatch.wait(for: blocked, shielded: shielded) }
        if isAborted { throw CancellationError() }
    }

    /// Cuts the chunk by the room of the narrowest edge, and waits for room in all that have none.
    @inlinable
    func deliverTogether(_ chunk: Chunk<Element>, to subscribers: [Machine.Subscriber], shielded: Bool) async throws {
        var rest = chunk
        while !rest.isEmpty {
            let room = subscribers.reduce(rest.count) { min($0, $1.edge.room(for: rest)) }
            if room > 0 {
                try await deliver(rest.prefix(room), to: subscribers, shielded: shielded)
                rest = rest.dropFirst(room)
                continue
            }
            var blocked: [(edge: Edge<Element>, place: UInt64)] = []
            for subscriber in subscribers {
                if case .blocked(let place) = subscriber.edge.probe(rest) { blocked.append((subscriber.edge, place)) }
            }
            if !blocked.isEmpty { try await SubjectLatch.wait(for: blocked, shielded: shielded) }
        }
    }

    @inlinable
    func waitForTurn(_ place: UInt64, shielded: Bool) async throws {
        if shielded {
            try await withUnsafeThrowingContinuation { continuation in
                run(state.withLock { $0.wait(place, continuation) })
            }
            return
        }
        try await withCancellation {
            try await withUnsafeThrowingContinuation { continuation in
                let actions = state.withLock {
                    // The handler below may have run before there was anything to cancel.
                    let first = $0.wait(place, continuation)
                    return (first, Task.isCancelled ? $0.cancelWait(place) : .none)
                }
                run(actions.0)
                run(actions.1)
            }
        } onCancel: {
            run(state.withLock { $0.cancelWait(place) })
        }
    }

    @inlinable
    func run(_ action: Machine.Action) {
        switch action {
        case .none: break
        case .resume(let continuation): continuation.resume()
        case .cancel(let continuation): continuation.resume(throwing: CancellationError())
        case .end(let subscribers, .finished, let last):
            for subscriber in subscribers {
                if !last.isEmpty { subscriber.edge.act { _ = $0.offer(last, reply: .nobody, &$1) } }
                subscriber.edge.finish()
            }
        case .end(let subscribers, .failed(let error), _): for subscriber in subscribers { subscriber.edge.fail(error) }
        }
    }
}
