// feedbus: the buffer of a node that fails rather than lose an event.

import FeedbusFlow
import FeedbusPlugin

/// A buffer of the policy `fail`.
///
/// A subject forgets a subscriber that has failed. To forget this one would count as delivered, for every source, what
/// its node never got: so it stands beside the subject, and what comes after the failure is not delivered.
struct StrictBuffer: Sendable {
    let edge: Edge<Event>
    /// Called with what comes after the failure.
    let onLate: @Sendable (Chunk<Event>) -> Void

    /// Never waits.
    /// - Throws: `CancellationError` when the program gave up.
    func send(_ chunk: Chunk<Event>) async throws {
        do { try await edge.send(chunk, shielded: true) } catch is EdgeOverflow {
            // The part that did not fit was reported as it was refused.
        } catch is EdgeClosed {
            // After its node came to its own end nothing is owed to it.
            if edge.hasFailed { onLate(chunk) }
        }
    }
}
