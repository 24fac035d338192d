// feedbus: time that moves only when a test moves it.

public import FeedbusBase

public final class VirtualClock: EventClock, Sendable {
    public init(loop: ManualLoop) {}
    public var now: Instant { fatalError("not yet") }
    public var wallTime: WallTime { fatalError("not yet") }
    public func sleep(until deadline: Instant) async throws { fatalError("not yet") }
    public func advance(by duration: Duration) { fatalError("not yet") }
}
