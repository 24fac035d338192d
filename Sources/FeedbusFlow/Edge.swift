// feedbus: the bounded buffer between producers and one consumer.

public final class Edge<Element: Sendable>: Sendable {
    public init(
        capacity: Int, policy: OverflowPolicy = .block, producers: Int = 1, weightLimit: Int = .max,
        weigh: @escaping @Sendable (Element) -> Int = { _ in 0 },
        onDrop: @escaping @Sendable (Chunk<Element>) -> Void = { _ in }
    ) { fatalError("not yet") }
    public func send(_ chunk: Chunk<Element>, shielded: Bool = false) async throws { fatalError("not yet") }
    public func next(max: Int = .max) async throws -> Chunk<Element>? { fatalError("not yet") }
    public func addProducer() { fatalError("not yet") }
    public func finish() { fatalError("not yet") }
    public func fail(_ error: any Error) { fatalError("not yet") }
    @discardableResult public func close() -> Chunk<Element> { fatalError("not yet") }
    @discardableResult public func abort() -> Chunk<Element> { fatalError("not yet") }
    public var count: Int { fatalError("not yet") }
    public var waitingCount: Int { fatalError("not yet") }
    public var dropped: Int { fatalError("not yet") }
}
