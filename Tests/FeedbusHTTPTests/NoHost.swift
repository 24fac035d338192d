// feedbus: a host for tests that must not use one.

import FeedbusLoop
import FeedbusTestKit

/// Stands where a host is asked for and nothing of it may be used.
struct NoHost: LoopHost {
    private let loop = ManualLoop()

    var serialExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    var taskExecutor: any TaskExecutor { loop }

    func offload<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T { try work() }
    func spawn(_ command: ChildCommand) async throws -> ChildProcess { fatalError("no child processes here") }
}
