// feedbus: what an edge does, as a value: it holds no lock, awaits nothing and resumes nobody.

/// Where a suspended sender is told that its chunk was taken (nil) or why not.
@usableFromInline
enum EdgeSenderReply: Sendable {
    /// It has a place in the queue but does not wait yet.
    case unattached
    case continuation(UnsafeContinuation<Void, any Error>)
    case callback(@Sendable ((any Error)?) -> Void)
    /// Nobody: the replayed part that a subject left in front of the queue.
    case nobody
}

/// The state of an edge. Each event returns the actions that `Edge` runs after it has let go of the lock.
@usableFromInline
struct EdgeStateMachine<Element: Sendable>: ~Copyable, Sendable {
    @usableFromInline typealias Consumer = UnsafeContinuation<Chunk<Element>?, any Error>

    @usableFromInline
    struct Sender: Sendable {
        @usableFromInline let id: UInt64
        @usableFromInline var rest: Chunk<Element>
        @usableFromInline var reply: EdgeSenderReply
        /// It only wants to know when there is room for the first of `rest`, and leaves it free.
        @usableFromInline let isProbe: Bool

        @inlinable
        init(id: UInt64, rest: Chunk<Element>, reply: EdgeSenderReply, isProbe: Bool = false) {
            self.id = id
            self.rest = rest
            self.reply = reply
            self.isProbe = isProbe
        }

        /// Elements that it holds.
        @inlinable var held: Int { isProbe ? 0 : rest.count }
    }

    @usableFromInline
    enum Phase: Sendable {
        /// Takes elements while a producer is left. Next: any other.
        case open
        /// What is buffered or waiting is still handed out, then the error. Next: closed, aborted.
        case failed(any Error)
        /// The consumer has gone. Last.
        case closed
        /// Both sides were told to give up. Last.
        case aborted
    }

    @usableFromInline
    enum Offer: Sendable {
        case taken
        /// The sender has a place in the queue, under this number, for the part that did not fit.
        case blocked(UInt64)
        case refused(any Error)
    }

    @usableFromInline
    enum Next: Sendable {
        case chunk(Chunk<Element>)
        case end
        case failure(any Error)
        /// Nothing there: wait, under this number.
        case wait(UInt64)
    }

    /// What to do once the lock is released, in this order.
    @usableFromInline
    struct Actions: ~Copyable, Sendable {
        @usableFromInline var dropped: Chunk<Element>?
        @usableFromInline var consumer: Consumer?
        @usableFromInline var consumerResult: Result<Chunk<Element>?, any Error> = .success(nil)
        /// The first sender to be told is kept here: mostly it is the only one, and costs no array.
        @usableFromInline var sender: EdgeSenderReply = .unattached
        @usableFromInline var senderError: (any Error)?
        @usableFromInline var moreSenders: [(reply: EdgeSenderReply, error: (any Error)?)] = []
        @usableFromInline var watcher: EdgeWatcher?

        @inlinable
        init() {}

        @inlinable
        mutating func reply(to reply: EdgeSenderReply, _ error: (any Error)? = nil) {
            if case .unattached = sender {
                sender = reply
                senderError = error
            } else {
                moreSenders.append((reply, error))
            }
        }
    }

    /// A chunk of at least this many elements is handed out as it is; smaller neighbours are joined.
    @inlinable static var joinLimit: Int { 256 }

    /// The bound of the buffered elements' weight.
    @usableFromInline
    final class Weight: Sendable {
        @usableFromInline let limit: Int
        @usableFromInline let of: @Sendable (Element) -> Int

        @inlinable
        init(limit: Int, of: @escaping @Sendable (Element) -> Int) {
            self.limit = limit
            self.of = of
        }
    }

    // In an order and in sizes that leave no gaps: an idle subscription is small.
    @usableFromInline let capacity: Int
    @usableFromInline var producers: UInt32
    @usableFromInline let policy: OverflowPolicy
    @usableFromInline var phase = Phase.open
    /// Nil where it does not count.
    @usableFromInline let weight: Weight?
    @usableFromInline var buffer = Ring<Held>()
    @usableFromInline var buffered = 0
    @usableFromInline var bufferedWeight = 0
    @usableFromInline var senders = Ring<Sender>()
    @usableFromInline var waiting = 0
    /// Senders that were served between getting a place and waiting at it.
    @usableFromInline var settledEarly: [UInt64] = []
    @usableFromInline var consumer: Consumer?
    @usableFromInline var consumerMax = 0
    @usableFromInline var consumerID: UInt64 = 0
    @usableFromInline var dropped = 0
    @usableFromInline var lastID: UInt64 = 0
    /// Told when the edge takes no more: closed, aborted or failed. The latest of a list.
    @usableFromInline var watcher: EdgeWatcher?

    @inlinable
    init(
        capacity: Int, policy: OverflowPolicy, producers: Int, weightLimit: Int,
        weigh: @escaping @Sendable (Element) -> Int
    ) {
        self.capacity = policy == .latest ? 1 : capacity
        self.policy = policy == .latest ? .dropOldest : policy
        self.weight = policy == .latest || weightLimit == .max ? nil : Weight(limit: weightLimit, of: weigh)
        self.producers = UInt32(producers)
    }

    // MARK: - Senders

    /// A chunk arrives. Enters the buffer by the policy; with `block`, what does not fit takes a place in the queue.
    @inlinable
    mutating func offer(_ chunk: Chunk<Element>, reply: EdgeSenderReply, _ actions: inout Actions) -> Offer {
        switch phase {
        case .open where producers > 0: break
        case .open, .failed, .closed: return .refused(EdgeClosed())
        case .aborted: return .refused(CancellationError())
        }
        var outcome = Offer.taken
        switch policy {
        case .block:
            let (fitting, weight) = senders.isEmpty ? measure(chunk) : (0, 0)
            if fitting < chunk.count {
                outcome = .blocked(queue(chunk, from: fitting, weighing: weight, reply: reply))
            } else {
                append(chunk, weighing: weight)
            }
        case .dropNewest: drop(insert(chunk), &actions)
        case .dropOldest, .latest: drop(insertNewest(chunk), &actions)
        case .dropLast: drop(insert(chunk) { $0.removeLast() }, &actions)
        case .dropAll: drop(insert(chunk) { $0.removeOldest($0.buffered) }, &actions)
        case .fail, .failAtOnce:
            let (fitting, weight) = measure(chunk)
            append(chunk.prefix(fitting), weighing: weight)
            if fitting < chunk.count {
                let refused = chunk.dropFirst(fitting)
                let isAtOnce = policy == .failAtOnce && buffered > 0
                drop(isAtOnce ? Chunk(removeOldest(buffered).array + refused.array) : refused, &actions)
                let error = EdgeOverflow(capacity: capacity)
                phase = .failed(error)
                actions.watcher = watcher.take()
                outcome = .refused(error)
            }
        }
        settle(&actions)
        return outcome
    }

    /// The sender with a place in the queue now waits; it is told at once if that is over already.
    @inlinable
    mutating func attach(_ id: UInt64, _ reply: EdgeSenderReply, _ actions: inout Actions) {
        for offset in 0..<senders.count where senders[offset].id == id {
            senders[offset].reply = reply
            return
        }
        if let index = settledEarly.firstIndex(of: id) {
            settledEarly.remove(at: index)
            actions.reply(to: reply)
        } else if case .aborted = phase {
            actions.reply(to: reply, CancellationError())
        } else {
            actions.reply(to: reply, EdgeClosed())
        }
    }

    /// A suspended sender was cancelled: the part that it still held is withdrawn. One that has not yet begun to wait keeps
    /// its place: it will see for itself that it is cancelled.
    @inlinable
    mutating func cancelSender(_ id: UInt64, _ actions: inout Actions) {
        let cancelled = senders.remove { sender in
            if case .unattached = sender.reply { false } else { sender.id == id }
        }
        guard let sender = cancelled else { return }
        waiting -= sender.held
        actions.reply(to: sender.reply, CancellationError())
        // The sender behind it may have a lighter element.
        admit(&actions)
    }

    // MARK: - The consumer

    @inlinable
    mutating func next(max: Int, _ actions: inout Actions) -> Next {
        precondition(consumer == nil, "an edge has one consumer")
        switch phase {
        case .closed: return .end
        case .aborted: return .failure(CancellationError())
        case .open, .failed: break
        }
        if buffered > 0 {
            let chunk = take(max)
            admit(&actions)
            return .chunk(chunk)
        }
        // Without a buffer, senders are let in by a consumer that waits.
        if capacity > 0 || senders.isEmpty {
            if case .failed(let error) = phase { return .failure(error) }
            if producers == 0 { return .end }
        }
        lastID += 1
        consumerID = lastID
        return .wait(lastID)
    }

    /// The consumer waits, or is answered at once if something has come meanwhile.
    @inlinable
    mutating func wait(max: Int, _ continuation: Consumer, _ actions: inout Actions) {
        let id = consumerID
        switch next(max: max, &actions) {
        case .chunk(let chunk):
            actions.consumer = continuation
            actions.consumerResult = .success(chunk)
        case .end:
            actions.consumer = continuation
        case .failure(let error):
            actions.consumer = continuation
            actions.consumerResult = .failure(error)
        case .wait:
            consumer = continuation
            consumerMax = max
            consumerID = id
            if capacity == 0 { settle(&actions) }
        }
    }

    @inlinable
    mutating func cancelConsumer(_ id: UInt64, _ actions: inout Actions) {
        if consumerID == id { cancelConsumer(&actions) }
    }

    @inlinable
    mutating func cancelConsumer(_ actions: inout Actions) {
        guard let waiter = consumer.take() else { return }
        actions.consumer = waiter
        actions.consumerResult = .failure(CancellationError())
    }

    // MARK: - The end

    @inlinable
    mutating func addProducer() { producers += 1 }

    @inlinable
    mutating func finish(_ actions: inout Actions) {
        guard producers > 0 else { return }
        producers -= 1
        settle(&actions)
    }

    @inlinable
    mutating func fail(_ error: any Error, _ actions: inout Actions) {
        guard case .open = phase, producers > 0 else { return }
        phase = .failed(error)
        actions.watcher = watcher.take()
        settle(&actions)
    }

    /// Ends the edge for both sides and returns what was buffered.
    @inlinable
    mutating func end(
        _ last: Phase, senderError: any Error, consumer result: Result<Chunk<Element>?, any Error>,
        _ actions: inout Actions
    ) -> Chunk<Element> {
        switch phase {
        case .closed, .aborted: return Chunk()
        case .open, .failed: break
        }
        phase = last
        let left = buffer.removeAll().map(\.chunk)
        buffered = 0
        bufferedWeight = 0
        for sender in senders.removeAll() {
            if case .unattached = sender.reply { continue }
            actions.reply(to: sender.reply, senderError)
        }
        waiting = 0
        actions.consumer = consumer.take()
        actions.consumerResult = result
        actions.watcher = watcher.take()
        return left.count == 1 ? left[0] : Chunk(left.flatMap { $0 })
    }

    /// - Returns: true when the edge takes no more already.
    @inlinable
    mutating func watch(_ watcher: EdgeWatcher) -> Bool {
        switch phase {
        case .open:
            watcher.next = self.watcher
            self.watcher = watcher
            return false
        case .failed, .closed, .aborted: return true
        }
    }

    // MARK: - Inside

    /// Serves the consumer and the queue until neither can go on.
    @inlinable
    mutating func settle(_ actions: inout Actions) {
        admit(&actions)
        guard consumer != nil else { return }
        if buffered > 0 {
            actions.consumer = consumer.take()
            actions.consumerResult = .success(take(consumerMax))
            admit(&actions)
        } else if case .failed(let error) = phase {
            actions.consumer = consumer.take()
            actions.consumerResult = .failure(error)
        } else if producers == 0 {
            actions.consumer = consumer.take()
        }
    }

    /// Lets suspended senders in, in their order, as far as there is room.
    @inlinable
    mutating func admit(_ actions: inout Actions) {
        while limit > buffered, var first = senders.popFirst() {
            let (fitting, weight) = measure(first.rest)
            if !first.isProbe || fitting == 0 {
                append(first.rest.prefix(fitting), weighing: weight)
                waiting -= fitting
                if fitting < first.rest.count {
                    first.rest = first.rest.dropFirst(fitting)
                    return senders.prepend(first)
                }
            }
            switch first.reply {
            case .unattached: settledEarly.append(first.id)
            case .nobody: break
            case .continuation, .callback: actions.reply(to: first.reply)
            }
        }
    }
}
