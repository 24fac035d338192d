// feedbus: runs the flows of one operator as child tasks.

/// What becomes of the others when a branch has come to its end.
@usableFromInline
enum BranchEnd: Sendable {
    /// The collection goes on with the other branches.
    case goOn
    /// The collection is complete: the other branches are cancelled.
    case complete
}

/// Runs branches at the same time and returns when all have ended or one has said `.complete`.
///
/// Each starts at once, in order, on the caller's thread (so flows are subscribed in order), and its tasks inherit the
/// isolation and the executor preference. A failure, be it a branch's own or one that closed the gate, cancels the others;
/// the first one that is not an effect of another is thrown when they have ended. After a gate was closed without one, the
/// collection is complete, whatever branches throw.
@inlinable
func runBranches(
    _ branches: [@Sendable () async throws -> BranchEnd], gate: SerialGate,
    isolation: isolated (any Actor)? = #isolation
) async throws {
    do {
        try await withThrowingTaskGroup(of: BranchEnd.self) { group in
            for branch in branches {
                group.addImmediateTask {
                    // The gate closes before any other branch runs again: nothing goes out after the end.
                    do {
                        let end = try await runIsolated(to: isolation, branch)
                        if end == .complete { gate.close(nil) }
                        return end
                    } catch {
                        gate.close(error)
                        throw error
                    }
                }
            }
            while let end = try await group.next() {
                guard end == .goOn else {
                    group.cancelAll()
                    return
                }
            }
        }
    } catch {
        guard let end = gate.end else { throw error }
        if let failure = end.failure { throw failure }
    }
}
