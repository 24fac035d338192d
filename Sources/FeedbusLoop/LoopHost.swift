// feedbus: what code on a loop may ask of it.

/// The loop that hosts an actor: its executor, the thread pool and child processes.
public protocol LoopHost: Sendable {
    /// The executor that all actors of this loop share. Return it from `unownedExecutor`: calls between actors of one
    /// loop then cost no queueing.
    var serialExecutor: UnownedSerialExecutor { get }
    /// The preference of every task that the program starts, so that it stays on the loops.
    var taskExecutor: any TaskExecutor { get }

    /// Runs blocking work on a thread of the pool.
    ///
    /// The work always runs to its end, also when the caller's task is cancelled.
    /// - Throws: what `work` throws; `FeedbusError` with the code `loop.closed` when the loop has ended.
    func offload<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T

    /// Starts a program.
    /// - Throws: `FeedbusError` with the code `exec.not-found`, `exec.denied` or `exec.failed` when it cannot start.
    func spawn(_ command: ChildCommand) async throws -> ChildProcess
}
