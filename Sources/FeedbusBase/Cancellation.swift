// feedbus: what happens when the task that waits is cancelled.

/// Runs `operation` where the caller runs, and `handler` at once when the task is cancelled meanwhile, or was before.
///
/// The standard library's `withTaskCancellationHandler` takes an operation that belongs to no actor. On a loop, each of its
/// awaits would be queued anew, for the loop is not the executor that such an operation asks for.
/// - Parameter handler: called on any thread, also while `operation` runs.
/// - Throws: what `operation` throws.
@inlinable
public func withCancellation<Success>(
    isolation: isolated (any Actor)? = #isolation, _ operation: () async throws -> Success,
    onCancel handler: @Sendable () -> Void
) async rethrows -> Success {
    try await withTaskCancellationHandler {
        // Named, so that this closure is isolated as the caller is.
        _ = isolation
        return try await operation()
    } onCancel: {
        handler()
    }
}

extension Task where Failure == any Error {
    /// Its value. It is cancelled when the task that waits here is.
    /// - Throws: what it throws.
    @inlinable
    public func join() async throws -> Success {
        try await withCancellation {
            try await value
        } onCancel: {
            cancel()
        }
    }
}
