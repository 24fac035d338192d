// feedbus: the part of a loop that belongs to its thread.

internal import CLibuv
internal import FeedbusBase

/// Something that must be closed before a loop can end.
protocol LoopResource: AnyObject {
    /// Called on the loop. May be called again.
    func close()
}

/// libuv's loop, its own handles, and the queue of jobs. Only the loop's thread touches it.
///
/// An iteration of libuv runs due timers, then `prepare`, then waits for I/O and calls back, then runs `check`. Jobs run
/// in `prepare` and in `check`, so that what a callback has queued runs at once, and the loop never waits while there
/// is a job. One round is bounded in number and time, so that I/O and timers get their turn; what is left keeps an idle
/// handle active, and libuv then only looks for I/O without waiting.
final class LoopCore {
    private static let roundJobs = 4_096
    private static let roundNanoseconds: UInt64 = 2_000_000
    /// How long tasks that never come to rest may hold up the end of the loop.
    private static let lastRoundsNanoseconds: UInt64 = 1_000_000_000

    private enum Phase { case made, running, closing, closed }

    let uv: UnsafeMutablePointer<uv_loop_t>
    let bell = newHandle(uv_async_t.self)
    private let timer = newHandle(uv_timer_t.self)
    private let prepare = newHandle(uv_prepare_t.self)
    private let check = newHandle(uv_check_t.self)
    private let idle = newHandle(uv_idle_t.self)

    private var phase = Phase.made
    private var isIdling = false
    private(set) var iterations = 0
    /// Only the loop's thread touches it, and it calls nobody: a check for exclusivity would cost as much as its work.
    @exclusivity(unchecked) private var work = WorkQueue()
    private var spare: [LoopWork] = []
    private var timers = TimerHeap()
    /// The millisecond of libuv's clock that its timer is set to; nil: it is stopped.
    private var timerSetTo: UInt64?
    private var resources: [ObjectIdentifier: any LoopResource] = [:]
    private var closers: [@Sendable () -> Void] = []
    /// Where pipes read to; what was read is copied out before the callback returns.
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
    /// The loop owns its core, and is kept for ever once it has been made.
    @exclusivity(unchecked) private unowned(unsafe) var loop: EventLoop!

    private var ownHandles: [UnsafeMutableRawPointer] {
        [
            UnsafeMutableRawPointer(bell), UnsafeMutableRawPointer(timer), UnsafeMutableRawPointer(prepare),
            UnsafeMutableRawPointer(check), UnsafeMutableRawPointer(idle),
        ]
    }

    init() throws {
        uv = .allocate(capacity: 1)
        let status = uv_loop_init(uv)
        guard status == 0 else {
            uv.deallocate()
            for handle in ownHandles { handle.deallocate() }
            throw FeedbusError(.loopFailed, "cannot make an event loop: \(uvText(status))")
        }
        // These only fill in memory, but for the first one, which may lack a file descriptor.
        let asyncStatus = uv_async_init(uv, bell, onWake)
        guard asyncStatus == 0 else {
            uv_loop_close(uv)
            uv.deallocate()
            throw FeedbusError(.loopFailed, "cannot make an event loop: \(uvText(asyncStatus))")
        }
        uv_timer_init(uv, timer)
        uv_prepare_init(uv, prepare)
        uv_check_init(uv, check)
        uv_idle_init(uv, idle)
        uv_prepare_start(prepare, onPrepare)
        uv_check_start(check, onCheck)
    }

    deinit { scratch.deallocate() }

    func adopt(_ loop: EventLoop) {
        self.loop = loop
        uv.pointee.data = Unmanaged.passUnretained(loop).toOpaque()
    }

    // MARK: - Jobs

    @inline(__always)
    func enqueue(_ item: LoopWork) { work.append(item) }

    func beginIteration() {
        iterations += 1
        runRound()
    }

    func runRound() {
        loop.inbox.take(into: &work, spare: &spare)
        if !work.isEmpty {
            let end = uv_hrtime() + LoopCore.roundNanoseconds
            var count = 0
            while let item = work.popFirst() {
                run(item)
                count += 1
                if count == LoopCore.roundJobs || count & 7 == 0 && uv_hrtime() > end { break }
            }
        }
        if work.isEmpty == isIdling {
            isIdling = !work.isEmpty
            if isIdling { uv_idle_start(idle, onIdle) } else { uv_idle_stop(idle) }
        }
    }

    @inline(__always)
    private func run(_ item: LoopWork) {
        switch item {
        case .job(let job):
            // The job's own words must be taken before it runs: it may be gone afterwards.
            watch(job.description) {
                job.runSynchronously(
                    isolatedTo: loop.asUnownedSerialExecutor(), taskExecutor: loop.group.asUnownedTaskExecutor())
            }
        case .call(let body):
            watch("call") { body() }
        }
    }

    /// Runs a callback. Debug builds report it when it takes too long.
    @inline(__always)
    func watch(_ name: @autoclosure () -> String, _ body: () -> Void) {
        #if DEBUG
            let name = name()
            let start = uv_hrtime()
            body()
            let taken = Duration.nanoseconds(Int64(uv_hrtime() - start))
            if taken > EventLoop.slowLimit { loop.reportSlow(name, taken) }
        #else
            body()
        #endif
    }

    // MARK: - Timers

    func schedule(_ entry: TimerEntry, at deadline: Int64) {
        guard isOpen else { return entry.abandon() }
        timers.insert(entry, at: deadline)
        setTimer()
    }

    func unschedule(_ entry: TimerEntry) {
        guard timers.remove(entry) else { return }
        setTimer()
    }

    func fireTimers() {
        timerSetTo = nil
        let now = Int64(uv_hrtime())
        let round = timers.nextSequence
        while let entry = timers.popDue(now: now, before: round) {
            watch(entry.name) { entry.fire() }
        }
        setTimer()
    }

    /// Sets libuv's timer to the first deadline, or stops it.
    private func setTimer() {
        guard let deadline = timers.first, phase != .closed else {
            if timerSetTo != nil { uv_timer_stop(timer) }
            timerSetTo = nil
            return
        }
        // Rounded up to libuv's milliseconds, so that it does not fire too early.
        let nanoseconds = UInt64(max(deadline, 0))
        let due = nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1)
        guard timerSetTo != due else { return }
        timerSetTo = due
        let now = uv_now(uv)
        uv_timer_start(timer, onTimer, due > now ? due - now : 0, 0)
    }

    // MARK: - Life

    /// True until the loop has been told to stop.
    var isOpen: Bool { phase == .made || phase == .running }

    func begin() -> Bool {
        guard phase == .made else { return false }
        phase = .running
        return true
    }

    func stop() { if phase == .running { uv_stop(uv) } }

    func onClose(_ body: @escaping @Sendable () -> Void) {
        if isOpen { closers.append(body) } else { body() }
    }

    func register(_ resource: any LoopResource) { resources[ObjectIdentifier(resource)] = resource }

    func unregister(_ resource: any LoopResource) { resources[ObjectIdentifier(resource)] = nil }

    /// Runs until `stop()`, and then until all has come to rest.
    func run() {
        uv_run(uv, UV_RUN_DEFAULT)
        phase = .closing
        for closer in closers { closer() }
        closers = []
        while let entry = timers.popDue(now: .max, before: .max) { entry.abandon() }
        setTimer()
        for resource in resources.values { resource.close() }
        runLastRounds()
        phase = .closed
    }

    /// The last step: nothing can be done with the loop any more.
    func closeHandles() {
        for handle in ownHandles { closeHandle(handle) }
        uv_run(uv, UV_RUN_DEFAULT)
        let status = uv_loop_close(uv)
        precondition(status == 0, "the loop \(loop.name) ended with open handles: \(uvText(status))")
        uv.deallocate()
    }

    /// Lets the tasks that were woken by the closing come to rest, and work on the pool and children end.
    private func runLastRounds() {
        for handle in ownHandles { uv_unref(handle.assumingMemoryBound(to: uv_handle_t.self)) }
        var end = uv_hrtime() + LoopCore.lastRoundsNanoseconds
        while true {
            runRound()
            if uv_loop_alive(uv) != 0 {
                uv_run(uv, UV_RUN_ONCE)
                end = uv_hrtime() + LoopCore.lastRoundsNanoseconds
            } else if uv_hrtime() > end {
                _ = loop.inbox.close(evenWithWork: true)
                return
            } else if work.isEmpty && loop.inbox.close() {
                return
            }
        }
    }
}

// MARK: - Callbacks

/// The loop that a callback of libuv belongs to.
private func core(of uv: UnsafeMutablePointer<uv_loop_t>) -> LoopCore {
    Unmanaged<EventLoop>.fromOpaque(uv.pointee.data).takeUnretainedValue().core
}

/// Nothing to do: the jobs run in `check`, after all callbacks of this iteration.
private func onWake(_ handle: UnsafeMutablePointer<uv_async_t>?) {}

private func onIdle(_ handle: UnsafeMutablePointer<uv_idle_t>?) {}

private func onPrepare(_ handle: UnsafeMutablePointer<uv_prepare_t>?) {
    core(of: handle!.pointee.loop).beginIteration()
}

private func onCheck(_ handle: UnsafeMutablePointer<uv_check_t>?) { core(of: handle!.pointee.loop).runRound() }

private func onTimer(_ handle: UnsafeMutablePointer<uv_timer_t>?) { core(of: handle!.pointee.loop).fireTimers() }
