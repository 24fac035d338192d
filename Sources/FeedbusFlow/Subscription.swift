// feedbus: one subscriber's end of a subject, as an AsyncSequence.

public struct Subscription<Element: Sendable>: AsyncSequence, Sendable {
    public struct AsyncIterator: AsyncIteratorProtocol {
        public mutating func next() async throws -> Element? { fatalError("not yet") }
    }
    public struct Chunks: AsyncSequence, Sendable {
        public struct AsyncIterator: AsyncIteratorProtocol {
            public mutating func next() async throws -> Chunk<Element>? { fatalError("not yet") }
        }
        public func makeAsyncIterator() -> AsyncIterator { fatalError("not yet") }
    }
    public var chunks: Chunks { fatalError("not yet") }
    public func cancel() { fatalError("not yet") }
    public func makeAsyncIterator() -> AsyncIterator { fatalError("not yet") }
}
