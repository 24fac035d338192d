// feedbus: what the loop's tests share.

import FeedbusBase
import FeedbusLoop
import Glibc
import Synchronization
import Testing

/// An actor on a loop.
actor Hosted {
    let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.serialExecutor }
    var calls = 0

    init(_ loop: EventLoop) { self.loop = loop }

    func isOnLoop() -> Bool { loop.isOnLoop }

    func increment() -> Int {
        calls += 1
        return calls
    }
}

/// The first loop of the process, for as long as that lives. Jobs that come from threads without a loop land on it, and
/// not on the loop of some other test, which may count its jobs.
private let home: LoopThread = {
    do { return try LoopThread(running: EventLoop.make(name: "home")) } catch { fatalError("\(error)") }
}()

/// Makes a loop that `home` stands before.
func makeLoop(_ name: String) throws -> EventLoop {
    _ = home
    ignoreSIGPIPE()
    return try EventLoop.make(name: name)
}

/// Runs a loop on a thread for as long as `body` takes, which runs on the loop.
/// At its end every handle of the loop must close, or the process ends.
func withLoop<T: Sendable>(
    _ name: String = #function, _ body: @escaping @Sendable (EventLoop) async throws -> T
) async throws -> T {
    let loop = try makeLoop(name)
    let thread = try LoopThread(running: loop)
    // Started on the loop, and with nothing of its start left behind, so that a test may count jobs.
    let task = await withCheckedContinuation { continuation in
        loop.perform { continuation.resume(returning: loop.task { try await body(loop) }) }
    }
    let result = await withTaskCancellationHandler {
        await task.result
    } onCancel: {
        task.cancel()
    }
    loop.stop()
    await thread.join()
    return try result.get()
}

/// Suspends until `open()`; for any number of tasks, any number of times.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }
    private let state = Mutex(State())

    func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiters.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}

/// A number that any thread may change.
final class Counter: Sendable {
    private let number = Atomic<Int>(0)
    var value: Int { number.load(ordering: .acquiring) }
    func increment() { number.add(1, ordering: .acquiringAndReleasing) }
}

/// Stops a thread (not a task) until another one opens it.
final class ThreadGate: Sendable {
    // Made once; semaphores are for all threads.
    nonisolated(unsafe) private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    init() { sem_init(semaphore, 0, 0) }
    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }
    func open() { sem_post(semaphore) }
    func wait() { while sem_wait(semaphore) != 0 {} }
}

/// A folder for one test, deleted with all that is in it.
func withFolder<T>(_ body: (String) async throws -> T) async throws -> T {
    var name = Array("/tmp/feedbus-test-XXXXXX".utf8CString)
    let path = name.withUnsafeMutableBufferPointer { String(cString: mkdtemp($0.baseAddress!)) }
    defer { removeTree(path) }
    return try await body(path)
}

private func removeTree(_ path: String) {
    if let folder = opendir(path) {
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { removeTree("\(path)/\(name)") }
        }
        closedir(folder)
    }
    remove(path)
}

/// Everything that is left in a child's output.
func readAll(_ read: () async throws -> Bytes?) async throws -> Bytes {
    var writer = [UInt8]()
    while let bytes = try await read() { bytes.withUnsafeBytes { writer.append(contentsOf: $0) } }
    return Bytes(writer)
}
