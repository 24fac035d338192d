// feedbus: work for the thread pool that is done one piece after the other, several at a time where they wait.

import FeedbusLoop
import Synchronization

/// A line of jobs, of which one batch at a time is on the thread pool: however many wait, they occupy one thread.
final class WorkLine<Job: Sendable>: Sendable {
    private struct State {
        var jobs: [Job] = []
        var isRunning = false
    }

    private let host: any LoopHost
    /// The most jobs of one batch.
    private let most: Int
    private let perform: @Sendable ([Job]) -> Void
    private let state = Mutex(State())

    /// - Parameter perform: runs on the pool; answers every job itself.
    init(host: any LoopHost, most: Int, perform: @escaping @Sendable ([Job]) -> Void) {
        self.host = host
        self.most = most
        self.perform = perform
    }

    func add(_ job: Job) {
        let start = state.withLock { state in
            state.jobs.append(job)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard start else { return }
        host.task { [self] in await run() }
    }

    private func run() async {
        while true {
            let batch: [Job] = state.withLock { state in
                let batch = Array(state.jobs.prefix(most))
                state.jobs.removeFirst(batch.count)
                if batch.isEmpty { state.isRunning = false }
                return batch
            }
            if batch.isEmpty { return }
            do {
                try await host.offload { [perform] in perform(batch) }
            } catch {
                // The loop has ended: nobody else will do it.
                perform(batch)
            }
        }
    }
}
