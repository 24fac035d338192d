// feedbus: operators that wait: delay, timeout. Time comes from the clock that they are given.

public import FeedbusBase
public import Synchronization

extension Flow {
    /// Everything later by `duration`, completion included.
    ///
    /// ```
    /// self         1--2--3|
    /// delay        ----1--2--3|
    /// ```
    /// An error comes at once, overtakes what is delayed and drops it. Cancellation drops it too.
    /// Back-pressure: up to `buffer` elements are under way; then the producer is held with the next.
    /// - Parameters:
    ///   - duration: from zero.
    ///   - buffer: elements, 1...
    @inlinable
    public func delay(_ duration: Duration, clock: any EventClock, buffer: Int = 1024) -> Flow {
        Flow { emit in
            let gate = SerialGate(on: #isolation)
            // Weighed by elements: an edge counts a delayed chunk as one. The end is a chunk without elements.
            let edge = Edge<(due: Instant, chunk: Chunk<Element>)>(
                capacity: .max, weightLimit: buffer, weigh: { $0.chunk.count })
            try await runBranches(
                [
                    {
                        try await self.collect { chunk in
                            let due = clock.now + duration
                            var rest = chunk
                            while !rest.isEmpty {
                                try await edge.send(Chunk(one: (due, rest.prefix(buffer))))
                                rest = rest.dropFirst(buffer)
                            }
                        }
                        try await edge.send(Chunk(one: (clock.now + duration, Chunk())))
                        edge.finish()
                        return .goOn
                    },
                    {
                        while let delayed = try await edge.next(max: 1)?.first {
                            try await clock.sleep(until: delayed.due)
                            if !delayed.chunk.isEmpty { try await gate.run { try await emit(delayed.chunk) } }
                        }
                        return .complete
                    },
                ], gate: gate)
        }
    }

    /// Fails, or goes on with another flow, when the next element is too long in coming.
    ///
    /// ```
    /// self           1--2----------3--|
    /// timeout(5)     1--2----#
    /// ```
    /// The first element counts from the collection's start, each further one from the moment when the consumer was done
    /// with the one before: the consumer's own time is not the producer's fault. The producer is stopped before the error
    /// comes out or the other flow begins; that one is not timed. Back-pressure: a direct call.
    /// Errors: `FeedbusError` with the code `flow.timeout`, retriable.
    /// - Parameter other: what to go on with in place of the error.
    @inlinable
    public func timeout(_ duration: Duration, clock: any EventClock, other: Flow? = nil) -> Flow {
        Flow { emit in
            let gate = SerialGate(on: #isolation)
            let watch = Stopwatch(until: clock.now + duration)
            try await runBranches(
                [
                    {
                        while let deadline = watch.deadline(at: clock.now, else: clock.now + duration) {
                            try await clock.sleep(until: deadline)
                        }
                        return .complete
                    },
                    {
                        do {
                            try await self.collect { chunk in
                                guard watch.stop() else { throw SerialGate.Closed() }
                                try await gate.run { try await emit(chunk) }
                                watch.restart(until: clock.now + duration)
                            }
                        } catch {
                            // Too late: the time-out is the result, whatever its end does to the upstream.
                            if !watch.isExpired { throw error }
                        }
                        return watch.stop() ? .complete : .goOn
                    },
                ], gate: gate)
            guard watch.isExpired else { return }
            guard let other else {
                throw FeedbusError(
                    FeedbusError.Code("flow.timeout"), "nothing came for \(duration)", isRetriable: true)
            }
            try await other.collect(emit)
        }
    }
}

/// The deadline of one `timeout`: runs while its producer is at work, stands still while its consumer is.
@usableFromInline
final class Stopwatch: Sendable {
    @usableFromInline
    enum State: Sendable {
        case running(Instant)
        case stopped
        case expired
    }

    @usableFromInline let state: Mutex<State>

    @usableFromInline
    init(until deadline: Instant) { state = Mutex(.running(deadline)) }

    @usableFromInline var isExpired: Bool {
        state.withLock { if case .expired = $0 { true } else { false } }
    }

    /// - Returns: false when it had expired.
    @usableFromInline
    func stop() -> Bool {
        state.withLock { state in
            if case .expired = state { return false }
            state = .stopped
            return true
        }
    }

    @usableFromInline
    func restart(until deadline: Instant) {
        state.withLock { state in
            if case .stopped = state { state = .running(deadline) }
        }
    }

    /// When to look again; nil when it has expired. While it stands still, `later` is early enough: a restart comes no
    /// sooner than now, with a full duration to go.
    @usableFromInline
    func deadline(at now: Instant, else later: Instant) -> Instant? {
        state.withLock { state in
            switch state {
            case .running(let deadline) where deadline <= now:
                state = .expired
                return nil
            case .running(let deadline): return deadline
            case .stopped: return later
            case .expired: return nil
            }
        }
    }
}
