// feedbus: looking on without changing anything.

extension Flow {
    /// Calls closures as a collection goes by. Combine: `handleEvents`; Kotlin: `onStart`, `onEach`, `onCompletion`.
    ///
    /// What a closure throws fails the flow. Back-pressure: a direct call, the closures included.
    /// - Parameters:
    ///   - onStart: before the upstream is touched.
    ///   - onNext: with each chunk, before it goes on.
    ///   - onCompletion: after the last element, before completion goes on.
    ///   - onError: with the upstream's own error; not with one that comes from downstream, nor with cancellation.
    ///   - onCancel: when the collection ended otherwise: cancelled, or stopped or failed by downstream.
    @inlinable
    public func `do`(
        onStart: (@Sendable () async throws -> Void)? = nil,
        onNext: (@Sendable (Chunk<Element>) async throws -> Void)? = nil,
        onCompletion: (@Sendable () async throws -> Void)? = nil,
        onError: (@Sendable (any Error) async -> Void)? = nil,
        onCancel: (@Sendable () async -> Void)? = nil
    ) -> Flow {
        Flow { emit in
            try await onStart?()
            let failure: (any Error)?
            do {
                failure = try await self.collectCatching { chunk in
                    try await onNext?(chunk)
                    try await emit(chunk)
                }
            } catch {
                await onCancel?()
                throw error
            }
            if let failure {
                await onError?(failure)
                throw failure
            }
            try await onCompletion?()
        }
    }
}
