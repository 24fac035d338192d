// feedbus: a flow as an AsyncSequence.

/// The elements of a flow for `for try await`. Each loop over it collects the flow anew, in a task of its own with the
/// executor preference of the loop.
///
/// Back-pressure: the flow starts with the loop and is held at the chunk that it emits until the loop has come to the
/// chunk's last element and asks for more; with a buffer it may be so many elements ahead. Leaving the loop, also by
/// `break` or cancellation, stops the flow. Kotlin: `produceIn`; Combine: `values`.
public struct FlowSequence<Element: Sendable>: AsyncSequence, Sendable {
    let flow: Flow<Element>
    let buffer: Int

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(flow: flow, buffer: buffer) }

    /// One collection. It stops when the loop over it is left.
    final class Run: Sendable {
        let edge: Edge<Element>
        let task: Task<Void, Never>

        init(_ flow: Flow<Element>, buffer: Int, isolation: (any Actor)?) {
            let edge = Edge<Element>(capacity: buffer)
            let preference = withUnsafeCurrentTask { $0?.unownedTaskExecutor?.asTaskExecutor() }
            self.edge = edge
            task = Task.immediate(executorPreference: preference) {
                do {
                    try await runIsolated(to: isolation) { try await flow.collect { try await edge.send($0) } }
                    edge.finish()
                } catch {
                    edge.fail(error)
                }
            }
        }

        deinit {
            edge.close()
            task.cancel()
        }
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        let flow: Flow<Element>
        let buffer: Int
        var run: Run?
        var chunk = Chunk<Element>()
        /// After an error there is nothing more, not even the error.
        var hasFailed = false

        init(flow: Flow<Element>, buffer: Int) {
            self.flow = flow
            self.buffer = buffer
        }

        public mutating func next() async throws -> Element? { try await next(isolation: #isolation) }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
            // Also in the middle of a chunk, where nothing below would look.
            try Task.checkCancellation()
            if chunk.isEmpty {
                if hasFailed { return nil }
                let run = run ?? Run(flow, buffer: buffer, isolation: actor)
                self.run = run
                do {
                    guard let next = try await run.edge.next() else {
                        await run.task.value
                        return nil
                    }
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
}

extension Flow {
    /// The flow as an `AsyncSequence`. See `FlowSequence`.
    /// - Parameter buffer: elements that the flow may be ahead of the loop, 0...
    public func elements(buffer: Int = 0) -> FlowSequence<Element> { FlowSequence(flow: self, buffer: buffer) }
}
