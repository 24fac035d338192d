// feedbus: one console writes at a time.

import Synchronization

/// Whose turn it is to write to standard output: all consoles of a process share it, and a batch that a full pipe takes
/// in two pieces must not have another's in between. First come, first served.
final class OutputTurn: Sendable {
    static let standardOutput = OutputTurn()

    private struct State {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Waits for the turn. It is soon there: whoever has it is writing.
    private func take() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.isTaken {
                    state.waiting.append(continuation)
                    return false
                }
                state.isTaken = true
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    private func give() {
        let next: CheckedContinuation<Void, Never>? = state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isTaken = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }

    func callAsFunction<Failure: Error>(_ body: () async throws(Failure) -> Void) async throws(Failure) {
        await take()
        defer { give() }
        try await body()
    }
}
