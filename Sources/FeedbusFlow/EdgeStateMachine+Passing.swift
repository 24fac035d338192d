// feedbus: the short way through an edge, and how much room it has.

extension EdgeStateMachine {
    /// What came of the short way.
    @usableFromInline
    enum Passed: Sendable {
        case taken
        case blocked(UInt64)
        /// It is for the consumer that waits.
        case consumer(Consumer)
        /// It needs the long way.
        case no
    }

    /// The short way of a chunk, which most take: nobody but a consumer that waits has to be told of it.
    @inlinable
    mutating func pass(_ chunk: Chunk<Element>) -> Passed {
        guard producers > 0, weight == nil, case .open = phase else { return .no }
        if consumer != nil {
            guard buffered == 0, senders.isEmpty, chunk.count <= min(limit, consumerMax) else { return .no }
            return consumer.take().map { .consumer($0) } ?? .no
        }
        let fitting = senders.isEmpty ? min(chunk.count, capacity - buffered) : 0
        guard fitting == chunk.count else { return policy == .block ? .blocked(queue(chunk, from: fitting)) : .no }
        append(chunk)
        return .taken
    }

    /// What came of the short way out.
    @usableFromInline
    enum Pulled: Sendable {
        case chunk(Chunk<Element>)
        /// The sender that waited has gone in behind it, and is to be told.
        case chunkOf(Chunk<Element>, UnsafeContinuation<Void, any Error>)
        /// It needs the long way.
        case no
    }

    /// The short way of what is taken out, which mostly is enough: at most one sender waits, and all of its chunk fits.
    @inlinable
    mutating func pull(max: Int) -> Pulled {
        guard buffered > 0, weight == nil, consumer == nil, case .open = phase else { return .no }
        if senders.isEmpty { return .chunk(take(max)) }
        // Only where all that is buffered is taken at once is it certain that there will be room.
        guard senders.count == 1, buffer.count == 1, buffered <= max, let sender = senders.popFirst() else {
            return .no
        }
        guard case .continuation(let continuation) = sender.reply, !sender.isProbe, sender.rest.count <= capacity else {
            senders.prepend(sender)
            return .no
        }
        let chunk = take(max)
        append(sender.rest)
        waiting -= sender.rest.count
        return .chunkOf(chunk, continuation)
    }

    /// Buffers the first `fitting` elements, and gives the others a place in the queue.
    /// - Parameter weight: what these weigh, where that has been measured.
    @inlinable
    mutating func queue(
        _ chunk: Chunk<Element>, from fitting: Int, weighing weight: Int? = nil, reply: EdgeSenderReply = .unattached
    ) -> UInt64 {
        append(chunk.prefix(fitting), weighing: weight)
        lastID += 1
        senders.append(Sender(id: lastID, rest: chunk.dropFirst(fitting), reply: reply))
        waiting += chunk.count - fitting
        return lastID
    }

    /// How many elements from the front of `chunk` would not be held up now.
    @inlinable
    func room(for chunk: Chunk<Element>) -> Int {
        guard policy == .block, producers > 0, case .open = phase else { return chunk.count }
        return senders.isEmpty ? max(fit(chunk), 0) : 0
    }

    /// Takes a place in the queue of somebody who only wants to know when there is room for the first of `chunk`.
    @inlinable
    mutating func probe(_ chunk: Chunk<Element>) -> Offer {
        if room(for: chunk) > 0 { return .taken }
        lastID += 1
        senders.append(Sender(id: lastID, rest: chunk, reply: .unattached, isProbe: true))
        return .blocked(lastID)
    }
}
