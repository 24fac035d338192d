// feedbus: one libuv loop as the executor of actors.

internal import FeedbusBase
internal import Synchronization

/// One libuv loop, run by one thread, that is the serial executor of all actors that it hosts.
///
/// What any thread may call stands here; what belongs to the loop's thread stands in `LoopCore`.
package final class EventLoop: SerialExecutor, LoopHost {
    package let name: String
    let group: LoopGroup
    let inbox: LoopInbox
    /// Written by the loop's thread only; read by any.
    private let ownJobs = Atomic<Int>(0)
    private let slow = Mutex<(@Sendable (String, Duration) -> Void)?>(nil)
    /// Belongs to the thread that runs the loop: everybody reaches it through `core`, which checks that.
    nonisolated(unsafe) private let unguarded: LoopCore

    /// A loop that waits to be run. Work may be sent to it at once.
    /// - Throws: `FeedbusError` with the code `loop.failed` when the system has no resources for it.
    package static func make(name: String, group: LoopGroup = .shared) throws -> EventLoop {
        let loop = EventLoop(name: name, group: group, core: try LoopCore())
        loop.unguarded.adopt(loop)
        group.add(loop)
        return loop
    }

    private init(name: String, group: LoopGroup, core: sending LoopCore) {
        self.name = name
        self.group = group
        inbox = LoopInbox(bell: Bell(handle: core.bell))
        unguarded = core
    }

    /// What belongs to the loop's thread.
    @inline(__always)
    var core: LoopCore {
        preconditionOnLoop()
        return unguarded
    }

    // MARK: - Life

    /// Runs the loop on the calling thread until `stop()`. Then sleepers and waiters end with `CancellationError`,
    /// children are killed, work on the pool is waited for, and every handle is closed.
    /// - Throws: `FeedbusError` with the code `loop.closed` when it has run before.
    package func run() throws {
        precondition(CurrentLoop.address == nil, "this thread runs a loop already")
        guard unguarded.begin() else { throw EventLoop.closedError }
        CurrentLoop.set(self)
        unguarded.run()
        group.remove(self)
        // What the closing handles let go of must not send anything to this loop.
        CurrentLoop.set(nil)
        unguarded.closeHandles()
    }

    /// Ends `run()`. From any thread, also before `run()`.
    package func stop() {
        perform { self.core.stop() }
    }

    /// Kills the children of all loops at once, for a process that is about to end without `stop()`.
    package func killChildren() { group.killChildren() }

    /// Calls `body` on the loop when it has been told to stop, before its handles are closed.
    package func onClose(_ body: @escaping @Sendable () -> Void) {
        perform { self.core.onClose(body) }
    }

    /// Nothing that is sent to it will run any more.
    var hasClosed: Bool { inbox.hasClosed }

    /// The first request makes the pool.
    func submitNothing() { unguarded.submitNothing() }

    // MARK: - Work

    package var isOnLoop: Bool {
        @inline(__always) get { CurrentLoop.address == Unmanaged.passUnretained(self).toOpaque() }
    }

    @inline(__always)
    package func preconditionOnLoop() {
        precondition(isOnLoop, "called outside the thread of its event loop")
    }

    /// Calls `work` on the loop: at once when called there, else when the loop comes round to it.
    /// Returns false, and does nothing, where the loop has closed.
    @discardableResult
    package func perform(_ work: @escaping @Sendable () -> Void) -> Bool {
        if isOnLoop {
            work()
            return true
        }
        return inbox.add(.call(work))
    }

    // MARK: - Executor

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isOnLoop {
            enqueueOnLoop(job)
        } else if !inbox.add(.job(job)) {
            reportSlow("a job came to loop \(name) after it had closed, and will never run", .zero)
        }
    }

    @inline(__always)
    func enqueueOnLoop(_ job: UnownedJob) {
        ownJobs.store(ownJobs.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        unguarded.enqueue(.job(job))
    }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    /// Lets `assumeIsolated` work in callbacks that no task has called.
    package func isIsolatingCurrentContext() -> Bool? { isOnLoop }

    package func checkIsolated() { preconditionOnLoop() }

    package var serialExecutor: UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    package var taskExecutor: any TaskExecutor { group }

    /// How many jobs were queued so far, from anywhere.
    package var enqueueCount: Int { ownJobs.load(ordering: .relaxed) + inbox.jobs }

    /// How often another thread had to wake the loop.
    package var wakeCount: Int { inbox.wakes }

    // MARK: - Watch

    /// How often the loop has gone round. On the loop only. It stands still while there is nothing to do.
    package var iterationCount: Int { core.iterations }

    /// In debug builds: called on the loop after a callback or job that took longer than `slowLimit`, with its name and
    /// how long it took. In all builds: called, on any thread, for a job that comes after the loop's end and is lost.
    package var slowCallback: (@Sendable (String, Duration) -> Void)? {
        get { slow.withLock { $0 } }
        set { slow.withLock { $0 = newValue } }
    }

    package static let slowLimit = Duration.milliseconds(50)

    func reportSlow(_ what: String, _ duration: Duration) { slowCallback?(what, duration) }

    static let closedError = FeedbusError(.loopClosed, "the event loop has ended")
}
