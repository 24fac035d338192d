// feedbus: a running program and its three pipes.

public import FeedbusBase
internal import Glibc

/// A child process. It leads a session and process group of its own, so that a ^C at our terminal does not reach it.
///
/// When the last reference goes, its pipes are closed and its group gets SIGTERM, if it still runs. When the loop ends,
/// its group gets SIGKILL.
public final class ChildProcess: Sendable {
    private enum Kind {
        case real(EventLoop, ChildState)
        case simulated(any SimulatedChild)
    }

    public let pid: Int32
    private let kind: Kind

    init(loop: EventLoop, state: ChildState) {
        pid = state.pid
        kind = .real(loop, state)
    }

    /// A program that is none, for tests.
    package init(simulated child: any SimulatedChild, pid: Int32) {
        self.pid = pid
        kind = .simulated(child)
    }

    deinit {
        switch kind {
        case .real(let loop, let state): loop.perform { state.abandon() }
        case .simulated(let child): child.abandon()
        }
    }

    /// The next bytes that it has written to its standard output, at most 64 KiB; nil at the end of the output, also
    /// where there is no such pipe.
    ///
    /// The pipe is read only while somebody waits here: a child that writes faster than it is read has to wait. What it
    /// wrote before it ended can be read after its end.
    /// - Throws: `CancellationError`, at once, when the task is cancelled (nothing is lost); `FeedbusError` with the
    ///   code `exec.read`, or `loop.closed` when the loop has ended.
    public func readOutput() async throws -> Bytes? {
        switch kind {
        case .real(let loop, let state): try await read(loop, state) { $0.output }
        case .simulated(let child): try await child.readOutput()
        }
    }

    /// The same for its standard error.
    public func readErrors() async throws -> Bytes? {
        switch kind {
        case .real(let loop, let state): try await read(loop, state) { $0.errors }
        case .simulated(let child): try await child.readErrors()
        }
    }

    private func read(
        _ loop: EventLoop, _ state: ChildState, _ pipe: @escaping @Sendable (ChildState) -> PipeReader?
    ) async throws -> Bytes? {
        try await loop.wait { waiter in
            loop.preconditionOnLoop()
            guard let pipe = pipe(state) else { return waiter.resume(returning: nil) }
            pipe.read(waiter)
        }
    }

    /// Writes to its standard input, and returns when the system has taken all bytes. Calls come one after another.
    ///
    /// - Throws: `FeedbusError` with the code `exec.closed` when the child does not read any more or `closeInput()` was
    ///   called; `CancellationError`, at once, when the task is cancelled: the bytes may still reach the child then.
    public func write(_ bytes: Bytes) async throws {
        switch kind {
        case .real(let loop, let state):
            try await loop.wait { (waiter: LoopWaiter<Void>) in
                loop.preconditionOnLoop()
                guard let input = state.input else { return waiter.resume(throwing: PipeWriter.closedError) }
                input.write(bytes, waiter)
            }
        case .simulated(let child):
            guard try await child.write(bytes) else { throw PipeWriter.closedError }
        }
    }

    /// Closes its standard input, after what is being written. May be called again.
    public func closeInput() {
        switch kind {
        case .real(let loop, let state): loop.perform { state.input?.finish() }
        case .simulated(let child): child.closeInput()
        }
    }

    /// How it ended; suspends until it has. May be called from several tasks, and again.
    public func wait() async -> ChildExit {
        switch kind {
        case .real(let loop, let state):
            await withUnsafeContinuation { continuation in
                // A loop that has closed has killed its children.
                if !loop.perform({ state.wait(continuation) }) { continuation.resume(returning: .signal(SIGKILL)) }
            }
        case .simulated(let child): await child.wait()
        }
    }

    /// Sends a signal to its process group. Does nothing once the child has ended.
    public func kill(_ signal: Int32) {
        switch kind {
        case .real(let loop, let state): loop.perform { state.kill(signal) }
        case .simulated(let child): child.kill(signal)
        }
    }
}
