// feedbus: one subscriber's end of a subject, as an AsyncSequence.

import Synchronization

/// One subscription, to be consumed once, by one task: `for try await element in subscription`.
///
/// It is subscribed from the moment it was made, and leaves when the loop over it ends (also by `break`, error or
/// cancellation), by `cancel()`, or when it is forgotten. The loop holds up the subject as the edge's policy has it.
public struct Subscription<Element: Sendable>: AsyncSequence, Sendable {
    /// Leaves the subject when nobody holds it any more.
    final class Token: Sendable {
        let edge: Edge<Element>
        init(edge: Edge<Element>) { self.edge = edge }
        deinit { edge.close() }
    }

    /// Ends the subscription when the loop over it is left.
    final class Loop: Sendable {
        let token: Token
        init(token: Token) { self.token = token }
        deinit { token.edge.close() }
    }

    let token: Token

    init(edge: Edge<Element>) { token = Token(edge: edge) }

    /// Leaves the subject; what was not yet taken is discarded, and the loop ends, also when it is called from inside the
    /// loop in the middle of a chunk.
    public func cancel() {
        token.edge.isLeft.store(true, ordering: .relaxed)
        token.edge.close()
    }

    /// Elements that wait to be taken.
    public var count: Int { token.edge.count }

    /// Elements that the policy has dropped so far.
    public var dropped: Int { token.edge.dropped }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(loop: Loop(token: token)) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        let loop: Loop
        var chunk = Chunk<Element>()
        /// After an error there is nothing more, not even the error.
        var hasFailed = false

        init(loop: Loop) { self.loop = loop }

        public mutating func next() async throws -> Element? { try await next(isolation: #isolation) }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
            // Also in the middle of a chunk, where nothing below would look.
            try Task.checkCancellation()
            if loop.token.edge.isLeft.load(ordering: .relaxed) { return nil }
            if chunk.isEmpty {
                if hasFailed { return nil }
                do {
                    guard let next = try await loop.token.edge.next() else { return nil }
                    chunk = next
                } catch {
                    hasFailed = true
                    throw error
                }
            }
            let element = chunk[0]
            chunk = chunk.dropFirst()
            return element
        }
    }

    /// The same subscription, by chunks: as many elements at a time as there are.
    public var chunks: Chunks { Chunks(token: token) }

    public struct Chunks: AsyncSequence, Sendable {
        let token: Token

        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(loop: Loop(token: token)) }

        public struct AsyncIterator: AsyncIteratorProtocol {
            let loop: Loop
            /// After an error there is nothing more, not even the error.
            var hasFailed = false

            init(loop: Loop) { self.loop = loop }

            public mutating func next() async throws -> Chunk<Element>? { try await next(isolation: #isolation) }

            public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Chunk<Element>? {
                if hasFailed { return nil }
                do { return try await loop.token.edge.next() } catch {
                    hasFailed = true
                    throw error
                }
            }
        }
    }
}
