// feedbus: what a plugin sees of its loop, on a loop that a test runs by hand.

import FeedbusBase
public import FeedbusLoop

/// A `LoopHost` over a `ManualLoop`: pool work runs at once, on the loop, so that a run depends on nothing but its seed.
/// It starts no programs.
public struct SimulatedHost: LoopHost {
    public let loop: ManualLoop

    public init(_ loop: ManualLoop) { self.loop = loop }

    public var serialExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    public var taskExecutor: any TaskExecutor { loop.first }

    public func offload<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T { try work() }

    /// - Throws: always: a simulation has no processes.
    public func spawn(_ command: ChildCommand) async throws -> ChildProcess {
        throw FeedbusError("exec.failed", "a simulation starts no programs: \(command.arguments.first ?? "")")
    }
}
