// feedbus: another flow decides when to try again.

extension Flow {
    /// Runs the flow again whenever another flow, which is made from this one's errors, emits.
    ///
    /// ```
    /// self                       1--#    1--2--|
    /// notifier                      -----*
    /// retryWhen { … }            1-------1--2--|
    /// ```
    /// The notifier is made and subscribed at the first error, and gets each error. An element of it begins the next attempt
    /// (one that comes during an attempt is ignored); its completion completes the result, its error fails it, also in the
    /// middle of an attempt, but not before the consumer is done with the chunk on which it works.
    /// Back-pressure: a direct call. RxSwift: `retry(when:)`; for a fixed policy see `retry(_:clock:seed:when:)`.
    /// - Parameter notifier: called once for each collection.
    public func retryWhen<Sign: Sendable>(
        _ notifier: @escaping @Sendable (Flow<any Error>) throws -> Flow<Sign>
    ) -> Flow {
        Flow { emit in
            let gate = SerialGate(on: #isolation)
            // A notifier that does not look at errors holds nobody up.
            let errors = Edge<any Error>(capacity: 1, policy: .latest)
            let hasFailed = Signal()
            let again = Signal()
            let isWaiting = Guarded(false)
            try await runBranches(
                [
                    {
                        var isFirst = true
                        while let error = try await self.collectCatching({ chunk in
                            try await gate.run { try await emit(chunk) }
                        }) {
                            isWaiting.with { $0 = true }
                            try await errors.send(Chunk(one: error))
                            if isFirst { hasFailed.signal() }
                            isFirst = false
                            try await again.wait()
                        }
                        return .complete
                    },
                    {
                        try await hasFailed.wait()
                        let signs = try notifier(
                            Flow<any Error> { emit in try await errors.drain(max: 1, into: emit) })
                        try await signs.collect { _ in
                            let wasWaiting = isWaiting.with { state in
                                defer { state = false }
                                return state
                            }
                            if wasWaiting { again.signal() }
                        }
                        try await gate.run { gate.close(nil) }
                        return .complete
                    },
                ], gate: gate)
        }
    }
}
