// feedbus: one emission waits for several full edges at once.

import FeedbusBase
import Synchronization

/// Counts the edges that have not yet taken an emission, and resumes the sender after the last.
@usableFromInline
final class SubjectLatch: Sendable {
    struct State {
        var open: Int
        var isAborted = false
        var continuation: UnsafeContinuation<Void, any Error>?
    }

    let state: Mutex<State>

    init(_ number: Int) { state = Mutex(State(open: number)) }

    /// - Throws: `CancellationError` when an edge was aborted; at once when cancelled and not shielded, after the edges
    ///   have let go of the chunk.
    @usableFromInline
    static func wait<Element>(for blocked: [(edge: Edge<Element>, place: UInt64)], shielded: Bool) async throws {
        let latch = SubjectLatch(blocked.count)
        for (edge, place) in blocked { edge.attach(place) { error in latch.settle(error) } }
        if shielded { return try await latch.wait() }
        try await withCancellation {
            try await latch.wait()
        } onCancel: {
            // Each edge answers its cancelled place through `settle`.
            for (edge, place) in blocked { edge.cancelSender(place) }
        }
    }

    private func wait() async throws {
        try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Void, any Error>) in
            let result: Result<Void, any Error>? = state.withLock { state in
                guard state.open == 0 else {
                    state.continuation = continuation
                    return nil
                }
                return state.isAborted ? .failure(CancellationError()) : .success(())
            }
            if let result { continuation.resume(with: result) }
        }
    }

    private func settle(_ error: (any Error)?) {
        let (continuation, isAborted) = state.withLock { state in
            if error is CancellationError { state.isAborted = true }
            state.open -= 1
            return (state.open == 0 ? state.continuation.take() : nil, state.isAborted)
        }
        if isAborted { continuation?.resume(throwing: CancellationError()) } else { continuation?.resume() }
    }
}
