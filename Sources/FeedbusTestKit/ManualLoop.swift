// feedbus: an executor whose jobs a test runs by hand.

import FeedbusBase
import Glibc
import Synchronization

/// A serial executor and task executor in one object, as the program's loop is, whose jobs run on the thread that calls
/// `runUntilIdle()`, in the order in which they came or in one drawn from a seed.
///
/// The same seed gives the same order, as long as everything under test runs on the loop: start tasks with
/// `executorPreference:` this loop, and sleep on its `VirtualClock`.
public final class ManualLoop: SerialExecutor, TaskExecutor, Sendable {
    private struct State {
        var jobs: [UnownedJob] = []
        var head = 0
        var random: SplitMix64?
        /// The thread that runs jobs now; nil between runs.
        var thread: pthread_t?
        var jobCount = 0
    }

    private let state: Mutex<State>

    /// - Parameter seed: draws the order of ready jobs; nil runs them first in, first out.
    public init(seed: UInt64? = nil) {
        state = Mutex(State(random: seed.map { SplitMix64(seed: $0) }))
    }

    /// Jobs that have run so far.
    public var jobCount: Int { state.withLock { $0.jobCount } }

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
    }

    /// Runs jobs on this thread until none is ready.
    /// - Returns: how many ran.
    @discardableResult
    public func runUntilIdle() -> Int {
        enter()
        defer { leave() }
        var number = 0
        while let job = takeJob() {
            run(job)
            number += 1
        }
        return number
    }

    /// Runs one job on this thread, and then `look`, which sees the actors of the loop at rest.
    /// - Returns: false when no job is ready.
    func runNext(then look: () -> Void) -> Bool {
        guard let job = takeJob() else { return false }
        enter()
        defer { leave() }
        run(job)
        look()
        return true
    }

    private func run(_ job: UnownedJob) {
        job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    }

    private func enter() {
        let outer = state.withLock { state in
            defer { state.thread = currentThread() }
            return state.thread
        }
        precondition(outer == nil, "the loop was run from one of its own jobs, or from two threads")
    }

    private func leave() { state.withLock { $0.thread = nil } }

    private func takeJob() -> UnownedJob? {
        state.withLock { state in
            guard state.head < state.jobs.count else { return nil }
            if state.random != nil, state.jobs.count - state.head > 1 {
                state.jobs.swapAt(state.head, Int.random(in: state.head..<state.jobs.count, using: &state.random!))
            }
            let job = state.jobs[state.head]
            state.head += 1
            state.jobCount += 1
            if state.head == state.jobs.count {
                state.jobs.removeAll(keepingCapacity: true)
                state.head = 0
            }
            return job
        }
    }

    // MARK: - Isolation

    public func isIsolatingCurrentContext() -> Bool? { isOnLoop }

    public func checkIsolated() { precondition(isOnLoop, "not on the manual loop") }

    /// True inside a job of this loop.
    public var isOnLoop: Bool {
        state.withLock { state in state.thread.map { pthread_equal($0, currentThread()) != 0 } ?? false }
    }
}

/// Never inlined: the optimiser takes `pthread_self()` for constant and keeps it across a suspension.
@inline(never)
private func currentThread() -> pthread_t { pthread_self() }
