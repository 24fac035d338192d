// feedbus: one flow at a time for the elements of another: flatMapLatest, flatMapFirst.

import FeedbusBase

extension Flow {
    /// The flow of the latest element: the one before it is released first.
    ///
    /// ```
    /// self             1-----2-------------|
    /// flow of 1        a---a---a---|
    /// flow of 2              b---b|
    /// flatMapLatest    a---a-b---b---------|
    /// ```
    /// Completes when the upstream and the last flow have. An error of either comes out at once; what a released flow still
    /// throws is dropped. What `transform` throws fails the result.
    /// Back-pressure: direct calls. While the consumer works, the flow is held at the chunk that it emits next, and the
    /// upstream at its next element: so a consumer's work is never cut off by a switch. Combine: `map` and `switchToLatest`.
    public func flatMapLatest<Output: Sendable>(
        _ transform: @escaping @Sendable (Element) throws -> Flow<Output>
    ) -> Flow<Output> {
        oneAtATime { element, gate, inner, emit in
            let flow = try transform(element)
            // Inside the gate nobody is on the way to the consumer.
            try await gate.run { await inner.stop() }
            inner.start(isolation: #isolation) {
                try await flow.collect { chunk in try await gate.run { try await emit(chunk) } }
            }
        }
    }

    /// The flow of an element that comes while none is going; other elements are dropped, without calling `transform`.
    ///
    /// ```
    /// self            1---2-----------3---|
    /// flow of 1       a-----a-----|
    /// flow of 3                       c-c|
    /// flatMapFirst    a-----a---------c-c-|
    /// ```
    /// Completes when the upstream and the last flow have; the first error of any comes out at once; what `transform` throws
    /// fails the result. Back-pressure: the upstream is never held up; the flow is held at the chunk that it emits next while
    /// the consumer works. rxjs: `exhaustMap`.
    public func flatMapFirst<Output: Sendable>(
        _ transform: @escaping @Sendable (Element) throws -> Flow<Output>
    ) -> Flow<Output> {
        oneAtATime { element, gate, inner, emit in
            if inner.isRunning { return }
            let flow = try transform(element)
            inner.start(isolation: #isolation) {
                try await flow.collect { chunk in try await gate.run { try await emit(chunk) } }
            }
        }
    }

    private func oneAtATime<Output: Sendable>(
        _ next:
            @escaping @Sendable (Element, SerialGate, InnerTask, @escaping Flow<Output>.Collector) async throws -> Void
    ) -> Flow<Output> {
        Flow<Output> { emit in
            let gate = SerialGate(on: #isolation)
            let inner = InnerTask()
            let result: Result<Void, any Error>
            do {
                try await withCancellation {
                    try await runBranches(
                        [
                            {
                                try await inner.failure()
                                return .goOn
                            },
                            {
                                try await self.collect { chunk in
                                    for element in chunk {
                                        try inner.checkFailure()
                                        try await next(element, gate, inner, emit)
                                    }
                                }
                                try await inner.finish()
                                return .complete
                            },
                        ], gate: gate)
                } onCancel: {
                    inner.cancel()
                }
                result = .success(())
            } catch {
                result = .failure(error)
            }
            await inner.stop()
            try result.get()
        }
    }
}
