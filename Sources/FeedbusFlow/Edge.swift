// feedbus: the bounded buffer between producers and one consumer.

public import FeedbusBase
public import Synchronization

/// A bounded queue of elements that travel in chunks, from any number of producers to one consumer.
///
/// The capacity counts elements, exactly. What happens with an element that does not fit is the policy's decision:
/// with `.block` the sender is suspended (first come, first served), the other policies never suspend it. A chunk that
/// arrives enters the buffer as far as the policy lets it, even while the consumer waits; so `next` never returns more
/// than `capacity` elements.
/// Kotlin: `Channel`; Reactor: `onBackpressure…`; fs2: a bounded `Channel`.
public final class Edge<Element: Sendable>: Sendable {
    @usableFromInline typealias Machine = EdgeStateMachine<Element>

    @usableFromInline let state: Mutex<Machine>
    /// The consumer wants no more, of what it holds already either: a `Subscription` looks at it before each element. It
    /// stands here, in the padding behind the state, so that an idle subscription is no larger for it.
    @usableFromInline let isLeft = Atomic(false)
    @usableFromInline let onDrop: @Sendable (Chunk<Element>) -> Void

    /// - Parameters:
    ///   - capacity: elements, 0...; `.latest` makes it 1. With 0 an element is taken for a consumer that waits, and not
    ///     otherwise: `.block` is then a rendezvous.
    ///   - producers: how many `finish()` calls end the edge, 0... (see `addProducer`; with 0, add one before the
    ///     consumer asks).
    ///   - weightLimit: bounds the sum of `weigh` over the buffered elements as well. An element that is heavier than
    ///     the limit passes when the edge is empty.
    ///   - weigh: pure and quick; it is called under the edge's lock, and only if there is a limit. Packed elements
    ///     say themselves what it would say of each.
    ///   - onDrop: called outside the lock with what the policy dropped, oldest first.
    public init(
        capacity: Int, policy: OverflowPolicy = .block, producers: Int = 1, weightLimit: Int = .max,
        weigh: @escaping @Sendable (Element) -> Int = { _ in 0 },
        onDrop: @escaping @Sendable (Chunk<Element>) -> Void = { _ in }
    ) {
        precondition(capacity >= 0, "the capacity of an edge is at least 0")
        self.state = Mutex(
            Machine(
                capacity: capacity, policy: policy, producers: producers, weightLimit: weightLimit, weigh: weigh))
        self.onDrop = onDrop
    }

    // MARK: - Producers

    /// Hands a chunk over; returns when all of it is in the buffer, or was dropped by the policy.
    /// - Parameter shielded: cancellation of the caller's task does not end the wait; only `close` and `abort` do.
    /// - Throws: `EdgeClosed` after `close()`, and when all producers had finished or one had failed;
    ///   `CancellationError` after `abort()`, and at once when the caller is cancelled and not shielded (what was not yet
    ///   in the buffer is then not sent); `EdgeOverflow` with the policy `.fail`.
    @inlinable
    public func send(_ chunk: Chunk<Element>, shielded: Bool = false) async throws {
        guard !chunk.isEmpty else { return }
        if !shielded { try Task.checkCancellation() }
        switch state.withLock({ $0.pass(chunk) }) {
        case .taken: return
        case .consumer(let consumer): return consumer.resume(returning: chunk)
        case .blocked(let place): return try await wait(at: place, shielded: shielded)
        case .no: break
        }
        switch offer(chunk) {
        case .taken: return
        case .refused(let error): throw error
        case .blocked(let place): try await wait(at: place, shielded: shielded)
        }
    }

    /// One more `finish()` is needed to end the edge. Without effect on an edge that has ended.
    @inlinable
    public func addProducer() { state.withLock { $0.addProducer() } }

    /// One producer is done. The last one ends the edge, after what is buffered.
    @inlinable
    public func finish() { act { $0.finish(&$1) } }

    /// Ends the edge with an error, after what is buffered and what suspended senders hold. Later sends throw
    /// `EdgeClosed`. The first error counts.
    @inlinable
    public func fail(_ error: any Error) { act { $0.fail(error, &$1) } }

    // MARK: - The consumer

    /// The next elements, in order; suspends while there are none.
    /// - Parameter max: at most this many, 1...; one large chunk is handed out as it is, small ones are joined.
    /// - Returns: nil when all producers finished and all was taken, and after `close()`.
    /// - Throws: the edge's error after what was buffered; `CancellationError` at once when the task is cancelled, and
    ///   after `abort()`.
    @inlinable
    public func next(max: Int = .max) async throws -> Chunk<Element>? {
        switch try nextNow(max: max) {
        case .chunk(let chunk): return chunk
        case .end: return nil
        case .failure(let error): throw error
        case .wait(let id):
            return try await withCancellation {
                try await waitForNext(id, max: max)
            } onCancel: {
                act { $0.cancelConsumer(id, &$1) }
            }
        }
    }

    /// Hands all elements to `body`, in order, until the edge has ended: a loop over `next`, at less cost for each chunk.
    /// - Parameter max: at most this many at once, 1...
    /// - Throws: as `next`, and what `body` throws.
    @inlinable
    public func drain(max: Int = .max, into body: (Chunk<Element>) async throws -> Void) async throws {
        // One handler for the whole loop. When it is called, whoever waits is this loop.
        try await withCancellation {
            while true {
                switch try nextNow(max: max) {
                case .chunk(let chunk): try await body(chunk)
                case .end: return
                case .failure(let error): throw error
                case .wait(let id):
                    guard let chunk = try await waitForNext(id, max: max) else { return }
                    try await body(chunk)
                }
            }
        } onCancel: {
            act { $0.cancelConsumer(&$1) }
        }
    }

    // MARK: - Both

    /// The consumer goes away. Suspended and later sends throw `EdgeClosed`.
    /// - Returns: what was still buffered.
    @inlinable @discardableResult
    public func close() -> Chunk<Element> {
        act { $0.end(.closed, senderError: EdgeClosed(), consumer: .success(nil), &$1) }
    }

    /// Gives up. Suspended and later sends and `next` throw `CancellationError`.
    /// - Returns: what was still buffered.
    @inlinable @discardableResult
    public func abort() -> Chunk<Element> {
        act { $0.end(.aborted, senderError: CancellationError(), consumer: .failure(CancellationError()), &$1) }
    }

    /// Buffered elements now.
    @inlinable public var count: Int { state.withLock { $0.buffered } }
    /// Elements that suspended senders still hold.
    @inlinable public var waitingCount: Int { state.withLock { $0.waiting } }
    /// Elements that the policy has dropped so far.
    @inlinable public var dropped: Int { state.withLock { $0.dropped } }
    /// It was ended by an error, such as its overflow, and its consumer has not left since.
    public var hasFailed: Bool { state.withLock { if case .failed = $0.phase { true } else { false } } }
}

// MARK: - For the rest of the package

extension Edge {
    /// Hands a chunk over without waiting. After `.blocked`, `attach` or `cancelSender` must follow.
    @inlinable
    func offer(_ chunk: Chunk<Element>) -> Machine.Offer { act { $0.offer(chunk, reply: .unattached, &$1) } }

    /// How many elements from the front of `chunk` would not be held up now.
    @inlinable
    func room(for chunk: Chunk<Element>) -> Int { state.withLock { $0.room(for: chunk) } }

    /// Asks to be told when there is room for the first of `chunk`. After `.blocked`, `attach` must follow.
    @inlinable
    func probe(_ chunk: Chunk<Element>) -> Machine.Offer { state.withLock { $0.probe(chunk) } }

    /// Puts a chunk in front of all that is sent later. What does not fit waits without a sender.
    @inlinable
    func preload(_ chunk: Chunk<Element>, _ actions: inout Machine.Actions) {
        guard !chunk.isEmpty else { return }
        state.withLock { _ = $0.offer(chunk, reply: .nobody, &actions) }
    }

    @inlinable
    func attach(_ place: UInt64, _ callback: @escaping @Sendable ((any Error)?) -> Void) {
        act { $0.attach(place, .callback(callback), &$1) }
    }

    @inlinable
    func cancelSender(_ place: UInt64) { act { $0.cancelSender(place, &$1) } }

    /// Calls `watcher`, once, when the edge takes no more: closed, aborted or failed.
    @inlinable
    func whenClosed(_ watcher: EdgeWatcher) {
        if state.withLock({ $0.watch(watcher) }) { watcher.edgeHasEnded() }
    }

    @inlinable
    func run(_ actions: consuming Machine.Actions) {
        if let dropped = actions.dropped { onDrop(dropped) }
        actions.consumer?.resume(with: actions.consumerResult)
        Self.tell(actions.sender, actions.senderError)
        for sender in actions.moreSenders { Self.tell(sender.reply, sender.error) }
        actions.watcher?.tellAll()
    }

    @inlinable
    static func tell(_ sender: EdgeSenderReply, _ error: (any Error)?) {
        switch sender {
        case .unattached, .nobody: break
        case .callback(let callback): callback(error)
        case .continuation(let continuation):
            if let error { continuation.resume(throwing: error) } else { continuation.resume() }
        }
    }

    /// The one funnel: an event under the lock, its actions after it.
    @inlinable
    func act<Result: Sendable>(_ event: (inout Machine, inout Machine.Actions) -> Result) -> Result {
        var actions = Machine.Actions()
        let result = state.withLock { event(&$0, &actions) }
        run(actions)
        return result
    }

    @inlinable
    func wait(at place: UInt64, shielded: Bool) async throws {
        if shielded {
            try await withUnsafeThrowingContinuation { continuation in
                act { $0.attach(place, .continuation(continuation), &$1) }
            }
            return
        }
        try await withCancellation {
            try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Void, any Error>) in
                act {
                    $0.attach(place, .continuation(continuation), &$1)
                    // The handler below may have run before there was anything to cancel.
                    if Task.isCancelled { $0.cancelSender(place, &$1) }
                }
            }
        } onCancel: {
            cancelSender(place)
        }
    }

    /// What `next` has without waiting.
    /// - Throws: `CancellationError` when the task is cancelled.
    @inlinable
    func nextNow(max: Int) throws -> Machine.Next {
        try Task.checkCancellation()
        switch state.withLock({ $0.pull(max: max) }) {
        case .chunk(let chunk): return .chunk(chunk)
        case .chunkOf(let chunk, let sender):
            sender.resume()
            return .chunk(chunk)
        case .no: return act { $0.next(max: max, &$1) }
        }
    }

    /// Inside a handler that cancels the consumer.
    @inlinable @inline(__always)
    func waitForNext(_ id: UInt64, max: Int) async throws -> Chunk<Element>? {
        try await withUnsafeThrowingContinuation { continuation in
            act {
                $0.wait(max: max, continuation, &$1)
                // The handler may have run before there was anything to cancel.
                if Task.isCancelled { $0.cancelConsumer(id, &$1) }
            }
        }
    }
}
