// feedbus: all loops of the process as one task executor.

internal import Glibc
internal import Synchronization

/// The task executor that every task of the program prefers. There is one for the whole process.
///
/// Continuations are resumed through a task's preferred executor. With this one, a resume from a callback of a loop
/// becomes a job of that same loop: no other thread takes part. It must be one object for all loops, since the runtime
/// re-queues a task at every hop when the executor that runs it is not the one that it prefers.
package final class LoopGroup: TaskExecutor {
    package static let shared = LoopGroup()

    private struct Loops {
        var open: [EventLoop] = []
        /// Kept for ever: actors refer to their executor without owning it, and may outlive the loop's run.
        var all: [EventLoop] = []
    }

    private let loops = Mutex(Loops())
    /// The leaders of the process groups that run.
    private let children = Mutex<Set<Int32>>([])

    private init() {}

    func add(_ loop: EventLoop) {
        loops.withLock {
            $0.open.append(loop)
            $0.all.append(loop)
        }
    }

    func remove(_ loop: EventLoop) {
        loops.withLock { $0.open.removeAll { $0 === loop } }
    }

    func addChild(_ pid: Int32) { children.withLock { _ = $0.insert(pid) } }

    func removeChild(_ pid: Int32) { children.withLock { _ = $0.remove(pid) } }

    /// Kills the children of all loops, at once; for a process that ends without closing its loops.
    func killChildren() {
        children.withLock { for pid in $0 { kill(-pid, SIGKILL) } }
    }

    /// Puts the job on the loop of the current thread, else on the first loop, else on Swift's own pool.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if CurrentLoop.with({ $0.enqueueOnLoop(job) }) != nil { return }
        let first = loops.withLock { $0.open.first { $0.inbox.add(.job(job)) } }
        if first == nil { globalConcurrentExecutor.enqueue(job) }
    }
}
