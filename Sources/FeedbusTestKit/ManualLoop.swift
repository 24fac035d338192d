// feedbus: an executor whose jobs a test runs by hand.

public final class ManualLoop: SerialExecutor, TaskExecutor {
    public init(seed: UInt64? = nil) {}
    public func enqueue(_ job: consuming ExecutorJob) { fatalError("not yet") }
    public func runUntilIdle() { fatalError("not yet") }
}
