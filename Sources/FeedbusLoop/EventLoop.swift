// feedbus: one libuv loop as the executor of actors.

package import FeedbusBase

package final class EventLoop: SerialExecutor, LoopHost {
    package let name: String
    package static func make(name: String, group: LoopGroup = .shared) throws -> EventLoop { fatalError() }
    init(name: String) { self.name = name }
    package func run() throws { fatalError() }
    package func stop() { fatalError() }
    package var isOnLoop: Bool { fatalError() }
    package func preconditionOnLoop() { fatalError() }
    package var clock: LoopClock { fatalError() }
    package func onSignals(_ numbers: [Int32], _ handler: @escaping @Sendable (Int32) -> Void) { fatalError() }
    package func makeTimer(_ fire: @escaping @Sendable () -> Void) -> LoopTimer { fatalError() }
    package func makePoll(fd: Int32, _ ready: @escaping @Sendable (PollEvents) -> Void) throws -> LoopPoll {
        fatalError()
    }
    package var enqueueCount: Int { fatalError() }
    /// Runs `work` on the loop: at once when called on it, else as soon as it comes round. False: the loop has closed.
    @discardableResult
    package func perform(_ work: @escaping @Sendable () -> Void) -> Bool { fatalError() }
    /// Starts a task on this loop.
    @discardableResult
    package func task<Success: Sendable>(_ operation: @escaping @Sendable () async throws -> Success) -> Task<
        Success, any Error
    > { fatalError() }
    package var serialExecutor: UnownedSerialExecutor { fatalError() }
    package var taskExecutor: any TaskExecutor { fatalError() }
    package func offload<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T { fatalError() }
    package func spawn(_ command: ChildCommand) async throws -> ChildProcess { fatalError() }
    package func enqueue(_ job: consuming ExecutorJob) { fatalError() }
}
package struct LoopClock: EventClock {
    package var now: Instant { fatalError() }
    package var wallTime: WallTime { fatalError() }
    package func sleep(until deadline: Instant) async throws { fatalError() }
}
package final class LoopGroup: TaskExecutor {
    package static let shared = LoopGroup()
    package func enqueue(_ job: consuming ExecutorJob) { fatalError() }
}
package final class LoopTimer: Sendable {
    package func start(after delay: Duration) { fatalError() }
    package func stop() { fatalError() }
    package func close() { fatalError() }
}
package struct PollEvents: OptionSet, Sendable {
    package var rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }
    package static let readable = PollEvents(rawValue: 1)
    package static let writable = PollEvents(rawValue: 2)
    package static let disconnected = PollEvents(rawValue: 4)
    /// The descriptor is in an error state; the poll has stopped.
    package static let failed = PollEvents(rawValue: 1 << 16)
}
package final class LoopPoll: Sendable {
    package func start(_ events: PollEvents) { fatalError() }
    package func stop() { fatalError() }
    package func close() { fatalError() }
}
/// For the whole process: a write to a closed pipe or over the size limit is an error of that write.
package func ignoreSIGPIPE() { fatalError() }
