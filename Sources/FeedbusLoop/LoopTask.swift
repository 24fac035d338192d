// feedbus: tasks that stay on a loop.

extension LoopHost {
    /// Starts a task on this loop: `operation`, and every `nonisolated(nonsending)` function that it calls, run there.
    ///
    /// A bare `Task { }` would run on Swift's own pool. A task that only prefers the loops' executor stays on them, but
    /// belongs to no isolation, and then the runtime queues it once more at every suspension; this one is isolated to an
    /// actor of the loop, and is queued once.
    @discardableResult
    public func task<Success: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Success
    ) -> Task<Success, any Error> {
        let isolation = LoopIsolation(self)
        if let loop = self as? EventLoop {
            if loop.isOnLoop { return isolation.assumeIsolated { $0.start(operation) } }
            if loop.hasClosed { return Task { throw EventLoop.closedError } }
        }
        return Task(executorPreference: taskExecutor) { try await isolation.run(operation) }
    }
}

/// An actor without state: something on a loop that tasks can be isolated to.
private actor LoopIsolation {
    private let host: any LoopHost
    /// Asked for after every `await` of the task: so it is kept, and not looked up.
    nonisolated let unownedExecutor: UnownedSerialExecutor

    init(_ host: any LoopHost) {
        self.host = host
        unownedExecutor = host.serialExecutor
    }

    func start<Success: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Success
    ) -> Task<Success, any Error> {
        // It captures `self`, and so starts isolated to it: one job, in the order of the calls.
        Task(executorPreference: host.taskExecutor) { try await self.run(operation) }
    }

    func run<Success: Sendable>(_ operation: @Sendable () async throws -> Success) async throws -> Success {
        // A use of the isolated state first: without one the hop to the loop is lost (swiftlang/swift#86083).
        touch()
        return try await operation()
    }

    @inline(never)
    private func touch() { _ = host }
}
