// feedbus: elements in lists: buffer(count:), buffer(count:time:), toArray.

public import FeedbusBase

extension Flow {
    /// Lists of `count` elements; the last one may be shorter, but not empty.
    ///
    /// ```
    /// self               1--2--3--4--5--|
    /// buffer(count: 2)   ---12----34----(5|)
    /// ```
    /// An error drops what is in an unfinished list. Back-pressure: a direct call for each full list; all lists that a chunk
    /// fills go on in one chunk. Combine: `collect(count)`; Kotlin: `chunked`.
    /// - Parameter count: elements, 1...
    public func buffer(count: Int) -> Flow<[Element]> {
        precondition(count > 0, "a list has room for one element")
        return Flow<[Element]> { emit in
            let state = Local(Batcher<Element>(count: count))
            try await self.collect { chunk in
                let lists = state.value.add(chunk)
                if !lists.isEmpty { try await emit(Chunk(lists)) }
            }
            let rest = state.value.take()
            if !rest.isEmpty { try await emit(Chunk(one: rest)) }
        }
    }

    /// A list whenever it has `count` elements or is `time` old, whichever comes first; then the next one begins.
    ///
    /// ```
    /// self               1--2--3---------|
    /// count: 2, time: 5  ---12---3----[]-([]|)
    /// ```
    /// Empty lists are emitted; completion emits the rest, even if empty; an error drops it. (`filter` leaves empty ones out.)
    /// Back-pressure: while the consumer works, the next list is filled; the producer is held with the element that would
    /// make it full. Combine: `collect(.byTimeOrCount)`; RxSwift: `buffer(timeSpan:count:)`.
    /// - Parameters:
    ///   - count: elements, 1...
    ///   - time: above zero.
    public func buffer(count: Int = .max, time: Duration, clock: any EventClock) -> Flow<[Element]> {
        precondition(count > 0 && time > .zero, "a list has room for one element, for some time")
        return Flow<[Element]> { emit in
            let gate = SerialGate(on: #isolation)
            let alarm = Alarm(clock)
            let state = Guarded(Batcher<Element>(count: count))
            alarm.set(for: clock.now + time)
            try await runBranches(
                [
                    {
                        while true {
                            try await alarm.ring()
                            try await gate.run {
                                alarm.set(for: clock.now + time)
                                try await emit(Chunk(one: state.with { $0.take() }))
                            }
                        }
                    },
                    {
                        try await self.collect { chunk in
                            if state.with({ $0.fits(chunk) }) { return }
                            try await gate.run {
                                let lists = state.with { $0.add(chunk) }
                                // None: the time was up meanwhile.
                                guard !lists.isEmpty else { return }
                                alarm.set(for: clock.now + time)
                                try await emit(Chunk(lists))
                            }
                        }
                        try await gate.run {
                            try await emit(Chunk(one: state.with { $0.take() }))
                            gate.close(nil)
                        }
                        return .complete
                    },
                ], gate: gate)
        }
    }

    /// All elements in one list, when the flow completes. Combine: `collect()`; Kotlin: `toList`.
    ///
    /// ```
    /// self       1--2--3--|
    /// toArray    ---------([1,2,3]|)
    /// ```
    /// An error comes alone. Back-pressure: never holds up the producer.
    public func toArray() -> Flow<[Element]> {
        Flow<[Element]> { emit in try await emit(Chunk(one: try await self.array())) }
    }
}
