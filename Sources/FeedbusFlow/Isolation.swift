// feedbus: keeps the tasks of a flow where their parent is isolated.

/// Runs `body`, which runs where its caller does, on an actor; without one, where it is.
///
/// Child tasks do not inherit a caller's isolation. Without it, a task that was resumed by a loop goes back to that loop's
/// queue at each `await`, for it is not on the executor that it asks for; on the actor's, it stays.
@inlinable
func runIsolated<Result: Sendable>(
    to actor: isolated (any Actor)?, _ body: @Sendable () async throws -> Result
) async throws -> Result {
    // A synchronous use of the actor: a body of awaits alone would not be moved to it (swiftlang/swift#86083).
    withExtendedLifetime(actor) {}
    return try await body()
}
