// feedbus: operators that thin a flow out by time: debounce, throttle.

public import FeedbusBase

extension Flow {
    /// An element once nothing has come after it for `silence`.
    ///
    /// ```
    /// self           1-2-3-------4---|
    /// debounce(3)    -------3-------4|
    /// ```
    /// Completion passes the pending element on at once; an error drops it. Back-pressure: never holds up the producer; what
    /// comes while the consumer works replaces what is pending. RxJava: `debounce`, `throttleWithTimeout`.
    /// - Parameter silence: from zero.
    public func debounce(_ silence: Duration, clock: any EventClock) -> Flow {
        Flow { emit in
            let gate = SerialGate(on: #isolation)
            let alarm = Alarm(clock)
            let state = Guarded(Debouncer<Element>(silence))
            try await runBranches(
                [
                    {
                        try await self.collect { chunk in
                            guard let last = chunk.last else { return }
                            alarm.set(for: state.with { $0.next(last, at: clock.now) })
                        }
                        try await gate.run {
                            if let last = state.with({ $0.takeLast() }) { try await emit(Chunk(one: last)) }
                            gate.close(nil)
                        }
                        return .complete
                    },
                    {
                        while true {
                            try await alarm.ring()
                            try await gate.run {
                                let due = state.with { $0.takeDue(at: clock.now) }
                                if let due { try await emit(Chunk(one: due)) }
                            }
                        }
                    },
                ], gate: gate)
        }
    }

    /// At most one element in `length`: with `leading` the first at once and, with `latest`, the newest of the others when the
    /// time is up.
    ///
    /// ```
    /// self                        1-23------4----------|
    /// throttle(4)                 1---3-----4----------|
    /// throttle(4, latest: false)  1---------4----------|
    /// throttle(4, leading: false) ----3---------4------|
    /// ```
    /// Each output opens a window of `length`; without `leading`, so does an element that comes when none is open. A window of
    /// no length holds nothing back: all pass. Completion waits for the end of the window if an element is pending; an error
    /// drops it.
    /// Back-pressure: an element that opens a window is a direct call; what falls into a window never holds up the producer,
    /// and replaces what is pending. RxSwift: `throttle`; RxJava: `throttleFirst`, `throttleLatest` (which
    /// drops the pending element at completion or, with `emitLast`, emits it then); rxjs: `throttle` with `leading` and
    /// `trailing`.
    /// - Parameters:
    ///   - length: from zero.
    ///   - latest: false drops what falls into a window.
    ///   - leading: false lets also the element that opens a window wait for its end.
    public func throttle(
        _ length: Duration, clock: any EventClock, latest: Bool = true, leading: Bool = true
    ) -> Flow {
        precondition(latest || leading, "something must pass")
        // Each element's window ends before the next one, be they in one chunk or not.
        guard length > .zero else { return self }
        return Flow { emit in
            let gate = SerialGate(on: #isolation)
            let alarm = Alarm(clock)
            let state = Guarded(Throttler<Element>(length, keepsFirst: leading, keepsLatest: latest))
            // The clock is about to stop: what is pending goes out when the input ends.
            let isRefused = Local(false)
            try await runBranches(
                [
                    {
                        try await self.collect { chunk in
                            let (out, rest) = state.with { $0.next(chunk, at: clock.now) }
                            if let out { try await gate.run { try await emit(Chunk(one: out)) } }
                            if let end = state.with({ $0.keep(rest) }) { alarm.set(for: end) }
                        }
                        let isDone = Local(false)
                        try await gate.run {
                            isDone.value = state.with { $0.complete() }
                            guard isRefused.value else { return }
                            isDone.value = true
                            if let last = state.with({ $0.pending.take() }) { try await emit(Chunk(one: last)) }
                        }
                        return isDone.value ? .complete : .goOn
                    },
                    {
                        while true {
                            let rang = try await alarm.ringUnlessRefused()
                            try await gate.run {
                                isRefused.value = !rang
                                let trailing = state.with {
                                    !rang && $0.isCompleted ? $0.pending.take() : $0.takeTrailing(at: clock.now)
                                }
                                if let trailing { try await emit(Chunk(one: trailing)) }
                            }
                            if state.with({ $0.isCompleted && $0.pending == nil }) { return .complete }
                            // The end of the input is what is left to wait for.
                            if !rang { try await suspendUntilCancelled() }
                        }
                    },
                ], gate: gate)
        }
    }
}
