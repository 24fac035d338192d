// feedbus: operators that another flow, or the time, opens and closes: takeUntil, takeFor, skipUntil, delaySubscription.

public import FeedbusBase

extension Flow {
    /// Elements until another flow emits, then completion.
    ///
    /// ```
    /// self         1--2--3--4--|
    /// notifier     -------*
    /// takeUntil    1--2--3|
    /// ```
    /// The notifier is subscribed first. Only an element of it stops this flow: its completion is ignored (as RxSwift; RxJava
    /// stops), its error fails the result. Back-pressure: a direct call; the notifier is held while the consumer works, so
    /// that its work is not cut off.
    public func takeUntil<Sign: Sendable>(_ notifier: Flow<Sign>) -> Flow {
        until { end in
            try await notifier.collectWhile { _ in
                try await end()
                return false
            }
        }
    }

    /// Elements for `duration` from the start of the collection, then completion. RxSwift: `take(for:)`.
    ///
    /// ```
    /// self         1--2--3--4--|
    /// takeFor(7)   1--2--3|
    /// ```
    /// Back-pressure: a direct call; an element on which the consumer works is not cut off.
    public func takeFor(_ duration: Duration, clock: any EventClock) -> Flow {
        until { end in
            try await clock.sleep(for: duration)
            try await end()
        }
    }

    private func until(
        _ wait: @escaping @Sendable (_ end: @escaping @Sendable () async throws -> Void) async throws -> Void
    ) -> Flow {
        Flow { emit in
            let gate = SerialGate(on: #isolation)
            let isEnded = Guarded(false)
            try await runBranches(
                [
                    {
                        try await wait {
                            try await gate.run {
                                isEnded.with { $0 = true }
                                gate.close(nil)
                            }
                        }
                        return isEnded.with { $0 } ? .complete : .goOn
                    },
                    {
                        // Ended at the start: the flow is not touched.
                        if isEnded.with({ $0 }) { return .complete }
                        try await self.collect { chunk in try await gate.run { try await emit(chunk) } }
                        return .complete
                    },
                ], gate: gate)
        }
    }

    /// Elements from the moment when another flow has emitted.
    ///
    /// ```
    /// self         1--2--3--4--|
    /// notifier     -------*
    /// skipUntil    ---------4--|
    /// ```
    /// The notifier is subscribed first and released with its first element; its completion is ignored, its error fails the
    /// result. Completes with this flow. Back-pressure: a direct call. Combine: `drop(untilOutputFrom:)`, which ends with a
    /// notifier that completes first.
    public func skipUntil<Sign: Sendable>(_ notifier: Flow<Sign>) -> Flow {
        Flow { emit in
            let gate = SerialGate(on: #isolation)
            let isOpen = Guarded(false)
            try await runBranches(
                [
                    {
                        try await notifier.collectWhile { _ in
                            isOpen.with { $0 = true }
                            return false
                        }
                        return .goOn
                    },
                    {
                        try await self.collect { chunk in
                            guard isOpen.with({ $0 }) else { return }
                            try await gate.run { try await emit(chunk) }
                        }
                        return .complete
                    },
                ], gate: gate)
        }
    }

    /// Subscribes `duration` later. Kotlin: `onStart { delay(…) }`.
    ///
    /// ```
    /// self (hot)              1--2--3--4--|
    /// delaySubscription(4)    ------3--4--|
    /// ```
    /// Cancellation ends the wait. Errors come when they come. Back-pressure: a direct call.
    public func delaySubscription(_ duration: Duration, clock: any EventClock) -> Flow {
        Flow { emit in
            try await clock.sleep(for: duration)
            try await self.collect(emit)
        }
    }
}
