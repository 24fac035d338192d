// feedbus: reads blocks of lines ahead of whoever takes them.

import FeedbusLoop
import FeedbusPlugin
import Lines
import Synchronization

/// Blocks of lines, in their order, read on the pool while others are on their way through the graph.
///
/// Of a regular file, block after block is read in one piece of work for as long as there is room for them: to hand each to
/// the pool and back would cost ten calls of the kernel a block. Of a stream one is read when it says that it has something.
final class ReadAhead: Sendable {
    /// Blocks that may wait to be taken. One more is being read.
    private static let limit = 2

    fileprivate struct State: Sendable {
        var blocks: [LineBlock] = []
        var taker: UnsafeContinuation<LineBlock, any Error>?
        /// The reading task, where it waits for room.
        var reader: UnsafeContinuation<Void, Never>?
        var failure: (any Error)?
        var isStopped = false
    }

    private let state = Mutex(State())
    private let lines: LineBlockReader
    private let host: any LoopHost

    /// Starts reading. Until the task has ended, by itself behind the last block or after `stop()`, nobody else may touch
    /// `lines`.
    static func start(_ lines: LineBlockReader, _ context: PluginContext) -> (
        ahead: ReadAhead, task: Task<Void, any Error>
    ) {
        let ahead = ReadAhead(lines, context.host)
        return (ahead, context.task { await ahead.run() })
    }

    private init(_ lines: LineBlockReader, _ host: any LoopHost) {
        self.lines = lines
        self.host = host
    }

    /// The next block. None comes after one whose state is `atEnd`.
    /// - Throws: what reading failed with, behind the blocks before it; `CancellationError` when the task is cancelled.
    func next() async throws -> LineBlock {
        try await withCancellation {
            try await withUnsafeThrowingContinuation { continuation in
                let (result, reader) = state.withLock { $0.take(continuation, isCancelled: Task.isCancelled) }
                if let result { continuation.resume(with: result) }
                reader?.resume()
            }
        } onCancel: {
            state.withLock { $0.taker.take() }?.resume(throwing: CancellationError())
        }
    }

    /// Reading ends with the block that is under way.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            return state.reader.take()
        }?.resume()
    }

    // MARK: - Reading

    private func run() async {
        do {
            while true {
                if !lines.hasLines { try await lines.input.waitUntilReadable() }
                switch try await host.offload({ try self.read() }) {
                case .over: return
                case .waiting: break
                case .full: await waitForRoom()
                }
            }
        } catch {
            state.withLock { state in
                state.failure = error
                return state.taker.take()
            }?.resume(throwing: error)
        }
    }

    private enum Pause { case over, waiting, full }

    /// On the pool.
    private func read() throws -> Pause {
        while true {
            let block = try lines.next()
            let isOver = block.state == .atEnd
            let isWaiting = block.state == .waiting
            if !isWaiting || !block.refused.isEmpty { put(block) }
            if isOver || state.withLock({ $0.isStopped }) { return .over }
            if state.withLock({ $0.blocks.count >= ReadAhead.limit }) { return .full }
            // A stream may have nothing more, and a thread of the pool must not wait for it.
            if isWaiting || lines.input.kind != .regular && !lines.hasLines { return .waiting }
        }
    }

    private func put(_ block: LineBlock) {
        let taker = state.withLock { state in
            if state.taker == nil { state.blocks.append(block) }
            return state.taker.take()
        }
        taker?.resume(returning: block)
    }

    private func waitForRoom() async {
        await withUnsafeContinuation { continuation in
            let hasRoom = state.withLock { state in
                if state.isStopped || state.blocks.count < ReadAhead.limit { return true }
                state.reader = continuation
                return false
            }
            if hasRoom { continuation.resume() }
        }
    }
}

extension ReadAhead.State {
    /// - Returns: what there is for the taker, which else waits; the reading task, if it waits and now has room.
    fileprivate mutating func take(
        _ continuation: UnsafeContinuation<LineBlock, any Error>, isCancelled: Bool
    ) -> (Result<LineBlock, any Error>?, UnsafeContinuation<Void, Never>?) {
        if isCancelled { return (.failure(CancellationError()), nil) }
        if !blocks.isEmpty { return (.success(blocks.removeFirst()), reader.take()) }
        if let failure { return (.failure(failure), nil) }
        taker = continuation
        return (nil, nil)
    }
}
