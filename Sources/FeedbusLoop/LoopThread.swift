// feedbus: a loop on a thread of its own.

internal import CLibuv
internal import FeedbusBase
internal import Synchronization

/// A thread that runs one loop. Whoever starts it calls `join()` after the loop's `stop()`.
package final class LoopThread: Sendable {
    private enum State {
        case running
        case joining(UnsafeContinuation<Void, Never>)
        case ended
    }

    private let loop: EventLoop
    private let state = Mutex(State.running)
    /// Written before the thread's handle is given to anybody; read by `join()` once.
    nonisolated(unsafe) private let thread = UnsafeMutablePointer<uv_thread_t>.allocate(capacity: 1)

    /// Runs the loop on a new thread.
    /// - Throws: `FeedbusError` with the code `loop.failed` when the system gives no thread.
    package init(running loop: EventLoop) throws {
        self.loop = loop
        thread.initialize(to: uv_thread_t())
        let me = Unmanaged.passRetained(self)
        let status = uv_thread_create(thread, onThread, me.toOpaque())
        guard status == 0 else {
            me.release()
            throw FeedbusError(.loopFailed, "cannot start a thread: \(uvText(status))")
        }
    }

    deinit { thread.deallocate() }

    fileprivate func run() {
        do { try loop.run() } catch { preconditionFailure("a loop cannot run twice") }
        let waiting: UnsafeContinuation<Void, Never>? = state.withLock { state in
            defer { state = .ended }
            if case .joining(let continuation) = state { return continuation }
            return nil
        }
        waiting?.resume()
    }

    /// Suspends until the loop has ended, and the thread with it. Call it once.
    package func join() async {
        await withUnsafeContinuation { continuation in
            let hasEnded = state.withLock { state in
                if case .ended = state { return true }
                state = .joining(continuation)
                return false
            }
            if hasEnded { continuation.resume() }
        }
        uv_thread_join(thread)
    }
}

private func onThread(_ argument: UnsafeMutableRawPointer?) {
    Unmanaged<LoopThread>.fromOpaque(argument!).takeRetainedValue().run()
}
