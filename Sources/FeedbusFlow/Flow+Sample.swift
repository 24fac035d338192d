// feedbus: sample, and the clock's ticks as a flow.

public import FeedbusBase

extension Flow {
    /// The latest element whenever another flow emits, if there is a new one.
    ///
    /// ```
    /// self       1--2-----3----4|
    /// sampler    ----*--*---*----
    /// sample     ----2------3---|
    /// ```
    /// Completes with this flow (as rxjs; RxSwift waits for one more tick); what is pending is then dropped, or passed on
    /// with `emitLast`. The sampler's completion is ignored, its error fails the result. An error comes at once, and drops
    /// what is pending.
    /// Back-pressure: this flow is never held up; the sampler is held while the consumer works.
    public func sample<Tick: Sendable>(_ sampler: Flow<Tick>, emitLast: Bool = false) -> Flow {
        Flow { emit in
            let gate = SerialGate(on: #isolation)
            let latest = Guarded<Element?>(nil)
            try await runBranches(
                [
                    {
                        try await self.collect { chunk in latest.with { $0 = chunk.last } }
                        try await gate.run {
                            if emitLast, let last = latest.with({ $0.take() }) { try await emit(Chunk(one: last)) }
                            gate.close(nil)
                        }
                        return .complete
                    },
                    {
                        try await sampler.collect { _ in
                            try await gate.run {
                                if let element = latest.with({ $0.take() }) { try await emit(Chunk(one: element)) }
                            }
                        }
                        return .goOn
                    },
                ], gate: gate)
        }
    }

    /// The latest element at every end of `period`, if there is a new one. See `sample(_:emitLast:)`.
    public func sample(every period: Duration, clock: any EventClock, emitLast: Bool = false) -> Flow {
        sample(.interval(period, clock: clock), emitLast: emitLast)
    }
}

extension Flow where Element == Int {
    /// 0, 1, 2, … at the ends of equal periods, for ever.
    ///
    /// ```
    /// interval(3)    ---0--1--2--3-
    /// ```
    /// Back-pressure: periods that end while the consumer works are left out, their numbers too.
    /// - Parameter period: above zero.
    public static func interval(_ period: Duration, clock: any EventClock) -> Flow {
        precondition(period > .zero, "a period lasts some time")
        return Flow { emit in
            let start = clock.now
            var number = 0
            while true {
                do { try await clock.sleep(until: start + period * (number + 1)) } catch is CancellationError {
                    // Or the clock is about to stop, and refuses: there are no more ticks (see `Alarm`).
                    try await suspendUntilCancelled()
                }
                try await emit(Chunk(one: number))
                number = Swift.max(number + 1, Int((clock.now - start) / period))
            }
        }
    }

    /// 0 after `delay`, then completion. Kotlin: `flow { delay(…); emit(0) }`.
    public static func timer(_ delay: Duration, clock: any EventClock) -> Flow {
        Flow { emit in
            try await clock.sleep(for: delay)
            try await emit(Chunk(one: 0))
        }
    }
}
