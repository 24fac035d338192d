// feedbus: flows that begin somewhere: values, sequences, nothing, an error.

extension Flow {
    /// One element, then completion. `(1|)` Kotlin: `flowOf`.
    @inlinable
    public static func just(_ element: Element) -> Flow { from(Chunk(one: element)) }

    /// The elements of a chunk at once, then completion.
    @inlinable
    public static func from(_ chunk: Chunk<Element>) -> Flow {
        Flow { emit in
            if !chunk.isEmpty { try await emit(chunk) }
        }
    }

    /// The elements of a sequence, then completion; the consumer sets the pace. Between chunks it looks for
    /// cancellation.
    /// - Parameter size: elements in a chunk, 1...
    @inlinable
    public static func from(_ elements: some Sequence<Element> & Sendable, chunk size: Int = 256) -> Flow {
        Flow { emit in
            var elements = elements.makeIterator()
            while true {
                try Task.checkCancellation()
                var chunk: [Element] = []
                while chunk.count < size, let element = elements.next() { chunk.append(element) }
                if chunk.isEmpty { return }
                try await emit(Chunk(chunk))
            }
        }
    }

    /// The elements of an asynchronous sequence, one by one, as they come. It is asked for the next one when the consumer
    /// has taken the last; its errors and its end are the flow's. Each collection makes an iterator.
    ///
    /// Cancellation ends it with the next element at the latest; how soon, while it waits for one, is up to the sequence. One
    /// that ends because it is cancelled (`AsyncStream` does) has not completed.
    @inlinable
    public static func from<Base: AsyncSequence & Sendable>(_ sequence: Base) -> Flow where Base.Element == Element {
        Flow { emit in
            var iterator = sequence.makeAsyncIterator()
            while let element = try await iterator.next(isolation: #isolation) {
                try Task.checkCancellation()
                try await emit(Chunk(one: element))
            }
            try Task.checkCancellation()
        }
    }

    /// Completes at once. `|`
    @inlinable public static var empty: Flow { Flow { _ in } }

    /// Neither emits nor ends; cancellable.
    @inlinable public static var never: Flow { Flow { _ in try await suspendUntilCancelled() } }

    /// Fails at once. `#`
    @inlinable
    public static func fail(_ error: any Error) -> Flow { Flow { _ in throw error } }

    /// All elements, once the flow has completed.
    @inlinable
    public func array() async throws -> [Element] {
        let elements = Local<[Element]>([])
        try await collect { elements.value.append(contentsOf: $0) }
        return elements.value
    }

    /// The first element; nil where the flow completes without one. Stops the flow.
    @inlinable
    public func first() async throws -> Element? {
        let first = Local<Element?>(nil)
        try await collectWhile {
            first.value = $0.first
            return false
        }
        return first.value
    }
}
