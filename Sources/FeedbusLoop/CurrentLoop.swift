// feedbus: which loop the current thread runs.

internal import CLibuv

/// The loop of the current thread, in thread-local storage.
///
/// Never asked through `pthread_self()`: glibc declares that function pure, so an optimised build may keep its answer
/// over an `await`, after which the code can stand on another thread.
enum CurrentLoop {
    // Written once, before the first use; libuv itself makes the key safe for all threads.
    nonisolated(unsafe) private static let key: UnsafeMutablePointer<uv_key_t> = {
        let key = UnsafeMutablePointer<uv_key_t>.allocate(capacity: 1)
        precondition(uv_key_create(key) == 0, "no thread-local storage")
        return key
    }()

    /// Nil on a thread that runs no loop.
    @inline(__always)
    static var address: UnsafeMutableRawPointer? { uv_key_get(key) }

    static func set(_ loop: EventLoop?) {
        uv_key_set(key, loop.map { Unmanaged.passUnretained($0).toOpaque() })
    }

    /// Calls `body` with the current thread's loop; nil where it has none.
    @inline(__always)
    static func with<Result>(_ body: (EventLoop) -> Result) -> Result? {
        guard let address else { return nil }
        // A loop that a thread runs is kept by `LoopGroup`, so that no reference needs to be counted here.
        return Unmanaged<EventLoop>.fromOpaque(address)._withUnsafeGuaranteedRef(body)
    }
}
