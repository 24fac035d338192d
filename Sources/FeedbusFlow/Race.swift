// feedbus: several tasks of which the first to give a sign goes on.

import Synchronization

/// Tasks that race for the first sign; the others are cancelled then.
final class Race: Sendable {
    private struct State {
        var tasks: [Task<Void, Never>] = []
        var winner: Int?
        var isCancelled = false
        var result: Result<Void, any Error> = .success(())
    }

    private let state = Mutex(State())

    /// Starts the next task at once; `body` gets its number.
    /// - Returns: false when the race is decided.
    func start(isolation: (any Actor)?, _ body: @escaping @Sendable (Int) async throws -> Void) -> Bool {
        let number = state.withLock { $0.winner == nil ? $0.tasks.count : nil }
        guard let number else { return false }
        let preference = withUnsafeCurrentTask { $0?.unownedTaskExecutor?.asTaskExecutor() }
        let task = Task.immediate(executorPreference: preference) {
            let result: Result<Void, any Error>
            do { result = .success(try await runIsolated(to: isolation) { try await body(number) }) } catch {
                result = .failure(error)
            }
            if self.claim(number) { self.state.withLock { $0.result = result } }
        }
        let isLost = state.withLock { state in
            state.tasks.append(task)
            return state.isCancelled || state.winner.map { $0 != number } ?? false
        }
        if isLost { task.cancel() }
        return true
    }

    /// A sign of one of them.
    /// - Returns: true when it is, or has been, the first.
    func claim(_ number: Int) -> Bool {
        let (isWinner, losers) = state.withLock { state in
            if let winner = state.winner { return (winner == number, [Task<Void, Never>]()) }
            state.winner = number
            return (true, state.tasks.indices.filter { $0 != number }.map { state.tasks[$0] })
        }
        for loser in losers { loser.cancel() }
        return isWinner
    }

    func cancel() {
        let tasks = state.withLock { state in
            state.isCancelled = true
            return state.tasks
        }
        for task in tasks { task.cancel() }
    }

    /// Returns when all tasks have ended.
    /// - Throws: what the winner threw.
    func finish() async throws {
        for task in state.withLock({ $0.tasks }) { await task.value }
        try state.withLock { $0.result }.get()
    }
}
