// feedbus: letting the producer run ahead.

extension Flow {
    /// Lets the producer run ahead of the consumer by up to `capacity` elements; beyond, the policy decides.
    ///
    /// ```
    /// self         1-2-3-4-5|
    /// buffer(2)    1------(23)---(45)---|      (the consumer works for 7 on each chunk)
    /// ```
    /// Order of all events is kept, completion and error included, which come after what is buffered. Cancellation drops
    /// what is buffered. The producer runs in a child task. With `.fail`, the result fails with `EdgeOverflow`.
    /// Back-pressure (`.block`): while the consumer works on what it took (at most `capacity` elements), `capacity` more are
    /// buffered, and the producer is held with the next. Kotlin: `buffer`, `conflate` (`.latest`); RxJava:
    /// `onBackpressureBuffer`, `…Drop`, `…Latest`; RxSwift's `observe(on:)` without bound.
    /// - Parameter capacity: elements, 1...
    @inlinable
    public func buffer(_ capacity: Int, policy: OverflowPolicy = .block) -> Flow {
        Flow { emit in
            let gate = SerialGate(on: #isolation)
            let edge = Edge<Element>(capacity: capacity, policy: policy)
            try await runBranches(
                [
                    {
                        do {
                            try await self.collect { chunk in try await edge.send(chunk) }
                            edge.finish()
                        } catch let error where !(error is CancellationError) {
                            // An edge that has overflown has failed by itself already.
                            edge.fail(error)
                        }
                        return .goOn
                    },
                    {
                        try await edge.drain(into: emit)
                        return .complete
                    },
                ], gate: gate)
        }
    }
}
