// feedbus: how long one call of a plugin may take: the node's `timeout`.

import FeedbusBase
import FeedbusLoop
import FeedbusPlugin
import Synchronization

/// Bounds one call of a plugin. A call that takes longer is cancelled and counts as failed, so that one plugin that
/// hangs holds up neither its node for ever nor the rest of the graph.
struct TimeLimit: Sendable {
    /// How long a call may take to end once it is cancelled.
    static let patience = Duration.seconds(5)

    private let limit: Duration
    private let clock: any EventClock
    private let host: any LoopHost

    /// - Returns: nil where the node has no limit: then a call may take as long as it likes, and what comes for the node
    ///   waits in its buffer.
    init?(_ limit: Duration?, _ context: PluginContext) {
        guard let limit else { return nil }
        self.limit = limit
        clock = context.clock
        host = context.host
    }

    /// Runs a call in a task of its own and returns what it returned, also when that came too late but before it gave up.
    /// - Throws: `node.timeout`, which may be tried again, when the call was cancelled and has ended; `node.hangs`, for
    ///   good, when it has not: nobody may call a plugin that is still at work. Else what the call threw.
    func run<Success: Sendable>(_ body: @escaping @Sendable () async throws -> Success) async throws -> Success {
        let call = Call<Success>()
        let work = host.task {
            let result: Result<Success, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            call.ended(with: result, limit)
        }
        // The clock of a node cancels waits beyond the shutdown grace: then it is the grace that bounds the call.
        let watch = host.task { [limit, clock] in
            try await clock.sleep(for: limit)
            call.markLate()
            work.cancel()
            try await clock.sleep(for: Self.patience)
            call.end(
                with: .failure(
                    FeedbusError(
                        "node.hangs",
                        "took longer than its \"timeout\" of \(limit.text), and did not end within"
                            + " \(Self.patience.text) of being cancelled", isRetriable: false)))
        }
        defer { watch.cancel() }
        return try await withCancellation {
            try await withUnsafeThrowingContinuation { call.wait($0) }
        } onCancel: {
            work.cancel()
        }
    }

    /// One call: its end, and the one that waits for it.
    private final class Call<Success: Sendable>: Sendable {
        private struct State {
            var isLate = false
            var waiter: UnsafeContinuation<Success, any Error>?
            var result: Result<Success, any Error>?
        }

        private let state = Mutex(State())

        func markLate() { state.withLock { $0.isLate = true } }

        /// The call has come to its own end.
        func ended(with result: Result<Success, any Error>, _ limit: Duration) {
            guard case .failure(let error) = result, state.withLock({ $0.isLate }) else { return end(with: result) }
            end(
                with: .failure(
                    FeedbusError(
                        "node.timeout", "took longer than its \"timeout\" of \(limit.text)", isRetriable: true,
                        cause: error)))
        }

        /// The first end counts.
        func end(with result: Result<Success, any Error>) {
            let waiter = state.withLock { state -> UnsafeContinuation<Success, any Error>? in
                guard state.result == nil else { return nil }
                state.result = result
                return state.waiter.take()
            }
            waiter?.resume(with: result)
        }

        func wait(_ continuation: UnsafeContinuation<Success, any Error>) {
            let result = state.withLock { state in
                if state.result == nil { state.waiter = continuation }
                return state.result
            }
            if let result { continuation.resume(with: result) }
        }
    }
}
