// feedbus: how many threads libuv's pool has.

internal import CLibuv
internal import Glibc

/// libuv's pool of threads: one for the whole process, whatever the number of loops.
package enum ThreadPool {
    /// For calls that mostly wait: files, the state, look-ups. libuv's own default.
    package static let usual = 4
    /// libuv makes no more.
    package static let most = 1_024
}

extension EventLoop {
    /// Makes the pool, with `threads` threads (1...). Before the first use of the pool, of any loop, and before `run()`, on
    /// the thread that will call it; later it has no effect.
    ///
    /// `UV_THREADPOOL_SIZE` in the environment, where the user has set it, decides instead.
    /// - Returns: how many threads the pool has.
    package func makePool(threads: Int) -> Int {
        precondition(!hasClosed && CurrentLoop.address == nil, "the pool is made before the loop runs")
        let name = "UV_THREADPOOL_SIZE"
        let wanted = getenv(name).map { atoi($0) }
        let size = min(max(wanted.map { Int($0) } ?? threads, 1), ThreadPool.most)
        if wanted == nil { setenv(name, String(size), 1) }
        submitNothing()
        // It was for libuv alone, which has read it by now: children are to choose for themselves.
        if wanted == nil { unsetenv(name) }
        return size
    }
}
