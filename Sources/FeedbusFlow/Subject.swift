// feedbus: a hot multicast point with a replay buffer.

public enum SubjectScope: String, Sendable, CaseIterable {
    case whileConnected = "while_connected"
    case forever
}

public final class Subject<Element: Sendable>: Sendable {
    public init(
        replay: Int = 0, scope: SubjectScope = .whileConnected,
        retain: @escaping @Sendable (Element) -> Element = { $0 }
    ) { fatalError("not yet") }
    public func send(_ chunk: Chunk<Element>, shielded: Bool = false) async throws { fatalError("not yet") }
    public func finish() { fatalError("not yet") }
    public func fail(_ error: any Error) { fatalError("not yet") }
    public func subscribe(capacity: Int = 256, policy: OverflowPolicy = .block) -> Subscription<Element> { fatalError("not yet") }
    public func flow(capacity: Int = 256, policy: OverflowPolicy = .block) -> Flow<Element> { fatalError("not yet") }
    public func attach(_ edge: Edge<Element>) async throws { fatalError("not yet") }
}
