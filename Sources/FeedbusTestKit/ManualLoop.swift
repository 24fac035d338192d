// feedbus: an executor whose jobs a test runs by hand.

import FeedbusBase
import Glibc
import Synchronization

/// A serial executor and task executor in one object, as the program's loop is, whose jobs run on the thread that calls
/// `runUntilIdle()`, in the order in which they came or in one drawn from a seed.
///
/// The same seed gives the same order, as long as everything under test runs on the loop: start tasks with
/// `executorPreference:` this loop, and sleep on its `VirtualClock`.
///
/// Several loops of one program stand beside a first one: `ManualLoop(beside:)`. Their jobs and those of the first run one
/// at a time, in an order drawn from the same seed.
public final class ManualLoop: SerialExecutor, TaskExecutor, Sendable {
    private struct Ready {
        var job: UnownedJob
        /// The loop that it belongs to; whoever has made it keeps it.
        unowned let loop: ManualLoop
    }

    private struct State {
        var jobs: [Ready] = []
        var head = 0
        var random: SplitMix64?
        /// The thread that runs jobs now; nil between runs.
        var thread: pthread_t?
        var jobCount = 0
        /// Whose job runs now; nil between jobs: the first loop's.
        unowned var current: ManualLoop?
    }

    private let state: Mutex<State>
    /// The loop beside which it stands, and which has all the jobs; nil for that one itself.
    private let leader: ManualLoop?

    /// - Parameter seed: draws the order of ready jobs; nil runs them first in, first out.
    public init(seed: UInt64? = nil) {
        state = Mutex(State(random: seed.map { SplitMix64(seed: $0) }))
        leader = nil
    }

    /// One more loop of the program that `first` is the first loop of. `first` runs its jobs, and is the task executor of
    /// both.
    public init(beside first: ManualLoop) {
        state = Mutex(State())
        leader = first.first
    }

    /// The loop that runs the jobs and is the task executor of all that stand beside it: mostly itself.
    public var first: ManualLoop { leader ?? self }

    /// Jobs that have run so far.
    public var jobCount: Int { state.withLock { $0.jobCount } }

    public func enqueue(_ job: consuming ExecutorJob) {
        let ready = Ready(job: UnownedJob(job), loop: self)
        first.state.withLock { $0.jobs.append(ready) }
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

    private func run(_ ready: Ready) {
        state.withLock { $0.current = ready.loop }
        ready.job.runSynchronously(
            isolatedTo: ready.loop.asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
        state.withLock { $0.current = nil }
    }

    private func enter() {
        let outer = state.withLock { state in
            defer { state.thread = currentThread() }
            return state.thread
        }
        precondition(outer == nil, "the loop was run from one of its own jobs, or from two threads")
    }

    private func leave() { state.withLock { $0.thread = nil } }

    private func takeJob() -> Ready? {
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
        first.state.withLock { state in
            guard let thread = state.thread, pthread_equal(thread, currentThread()) != 0 else { return false }
            return (state.current ?? first) === self
        }
    }
}

/// Never inlined: the optimiser takes `pthread_self()` for constant and keeps it across a suspension.
@inline(never)
private func currentThread() -> pthread_t { pthread_self() }
