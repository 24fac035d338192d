// feedbus: several flows at once, or one after the other: merge, concat.

extension Flow {
    /// All flows at once: elements as they come.
    ///
    /// ```
    /// a        1-----2-----|
    /// b        ---7-----8--|
    /// merge    1--7--2--8--|
    /// ```
    /// Completes when all have; the first error cancels the others and comes out at once, which cuts off the consumer's work
    /// on an element of another flow. Without flows it completes at once. Flows are subscribed in order; do not
    /// rely on an order between flows that emit at once.
    /// Back-pressure: no buffer; while the consumer works, each flow is held at the chunk that it emits next.
    @inlinable
    public static func merge(_ flows: [Flow]) -> Flow {
        if flows.count == 1 { return flows[0] }
        return Flow { emit in
            let gate = SerialGate(on: #isolation)
            let branches = flows.map { flow -> @Sendable () async throws -> BranchEnd in
                {
                    try await flow.collect { chunk in
                        if try !gate.tryEnter() { try await gate.waitToEnter() }
                        do { try await emit(chunk) } catch { throw gate.closing(error) }
                        gate.leave()
                    }
                    return .goOn
                }
            }
            try await runBranches(branches, gate: gate)
        }
    }

    /// This flow and another at once. See `merge(_:)`.
    @inlinable
    public func merge(with other: Flow) -> Flow { .merge([self, other]) }

    /// The flows of a flow at once, at most `maxConcurrent` of them. See `flatMap(maxConcurrent:buffer:_:)`.
    @inlinable
    public static func merge(_ flows: Flow<Flow>, maxConcurrent: Int = .max, buffer: Int = 16) -> Flow {
        flows.flatMap(maxConcurrent: maxConcurrent, buffer: buffer) { $0 }
    }

    /// The flows one after the other: the next is touched when the one before has completed.
    ///
    /// ```
    /// a         1--2--|
    /// b               3--4--|
    /// concat    1--2--3--4--|
    /// ```
    /// An error ends it; later flows are then never touched. Back-pressure: a direct call. Combine: `append`.
    @inlinable
    public static func concat(_ flows: [Flow]) -> Flow {
        Flow { emit in
            for flow in flows { try await flow.collect(emit) }
        }
    }

    /// This flow, then another. See `concat(_:)`.
    @inlinable
    public func concat(with other: Flow) -> Flow { .concat([self, other]) }

    /// A flow for each element, one after the other, in order.
    ///
    /// ```
    /// self         1-----2-----|
    /// concatMap    a-a-a-b-b-b-|
    /// ```
    /// Back-pressure: a direct call; the upstream is held at the chunk whose flows run. Where it must not be (a hot one, whose
    /// error should not wait), use `flatMap(maxConcurrent: 1)`, which keeps a queue. Kotlin: `flatMapConcat`.
    /// Errors: what `transform` or a flow throws fails the result.
    @inlinable
    public func concatMap<Output: Sendable>(
        _ transform: @escaping @Sendable (Element) throws -> Flow<Output>
    ) -> Flow<Output> {
        Flow<Output> { emit in
            try await self.collect { chunk in
                for element in chunk { try await transform(element).collect(emit) }
            }
        }
    }
}
