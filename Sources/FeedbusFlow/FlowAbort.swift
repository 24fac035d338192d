// feedbus: how an operator that has enough stops its upstream.

/// Thrown through the upstream of an operator that has all it needs. Only the collection that made it catches it.
@usableFromInline
final class FlowAbort: Error {
    @inlinable
    init() {}
}

extension Flow {
    /// Collects until `body` returns false, then stops the upstream and returns when it has ended.
    ///
    /// Kotlin: `transformWhile`. An upstream that swallows the stop gets it again with each further chunk.
    @inlinable
    public func collectWhile(_ body: @escaping @Sendable (Chunk<Element>) async throws -> Bool) async throws {
        let abort = FlowAbort()
        let isDone = Local(false)
        do {
            try await collect { chunk in
                guard !isDone.value, try await body(chunk) else {
                    isDone.value = true
                    throw abort
                }
            }
        } catch {
            if let own = error as? FlowAbort, own === abort { return }
            throw error
        }
    }
}
