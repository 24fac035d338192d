// feedbus: the events of a flow as values.

/// What happens in a flow: elements, then at most one end.
public enum FlowEvent<Element: Sendable>: Sendable {
    case next(Element)
    case completed
    case failed(any Error)
}

extension Flow {
    /// Elements, completion and error as values, then completion. RxSwift: `materialize`.
    ///
    /// ```
    /// self           1--2--#
    /// materialize    1--2--(#|)      (# as a value)
    /// ```
    /// Cancellation, and what comes back from downstream, are no events. Back-pressure: a direct call.
    @inlinable
    public func materialize() -> Flow<FlowEvent<Element>> {
        Flow<FlowEvent<Element>> { emit in
            let error = try await self.collectCatching { chunk in
                try await emit(Chunk(chunk.map { .next($0) }))
            }
            try await emit(Chunk(one: error.map { .failed($0) } ?? .completed))
        }
    }

    /// The reverse of `materialize`: the first end among the events stops the upstream. Without one, it ends as the upstream
    /// does. Back-pressure: a direct call.
    @inlinable
    public func dematerialize<Value: Sendable>() -> Flow<Value> where Element == FlowEvent<Value> {
        Flow<Value> { emit in
            try await self.collectWhile { chunk in
                var values: [Value] = []
                for event in chunk {
                    guard case .next(let value) = event else {
                        if !values.isEmpty { try await emit(Chunk(values)) }
                        if case .failed(let error) = event { throw error }
                        return false
                    }
                    values.append(value)
                }
                try await emit(Chunk(values))
                return true
            }
        }
    }
}
