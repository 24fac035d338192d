// feedbus: the cold, typed, chunked, back-pressured stream that operators compose.

/// A cold stream: nothing happens until `collect`, and each collection runs the producer anew.
///
/// The producer pushes chunks and is suspended while the consumer works on one: that is the back-pressure. It ends by
/// returning (completion) or by throwing (error). Cancelling the task that collects ends both where either waits, and at
/// each chunk of the sources of this library; it is cooperative, as everywhere in Swift.
/// Rx: `Observable`; Kotlin: `Flow`; Combine: a cold `Publisher`; fs2: `Stream` with its chunks.
public struct Flow<Element: Sendable>: Sendable {
    /// Takes one chunk. A producer never calls it again before it returned, and not at all once it threw.
    public typealias Collector = @Sendable (Chunk<Element>) async throws -> Void

    @usableFromInline let produce: @Sendable (_ emit: @escaping Collector) async throws -> Void

    /// - Parameter produce: called once for each collection. It must await each `emit` before the next, must let what
    ///   `emit` throws pass through, and must not keep `emit` after it returned. One that emits in a loop without ever
    ///   waiting calls `Task.checkCancellation()` in it, or runs to its end after a cancellation (Kotlin's `flow { }` looks
    ///   at each `emit`; here it would cost more than what most operators do).
    @inlinable
    public init(_ produce: @escaping @Sendable (_ emit: @escaping Collector) async throws -> Void) {
        self.produce = produce
    }

    /// Runs the flow and returns when it has completed.
    /// - Parameter body: called with each chunk, never concurrently; empty chunks are not passed on.
    /// - Throws: the flow's error, what `body` threw, or `CancellationError`.
    @inlinable
    public func collect(_ body: @escaping Collector) async throws {
        try await produce(body)
    }
}
