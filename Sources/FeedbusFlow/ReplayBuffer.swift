// feedbus: the last elements of a subject.

/// Keeps the last `capacity` elements, and nothing else: what leaves it is released at once.
@usableFromInline
struct ReplayBuffer<Element: Sendable>: Sendable {
    @usableFromInline let capacity: Int
    @usableFromInline var elements = Ring<Element>()

    @inlinable
    init(capacity: Int) { self.capacity = capacity }

    @inlinable
    mutating func append(_ chunk: Chunk<Element>) {
        for element in chunk.suffix(capacity) {
            if elements.count == capacity { _ = elements.popFirst() }
            elements.append(element)
        }
    }

    @inlinable
    mutating func removeAll() { elements = Ring() }

    /// What a late subscriber gets first.
    @inlinable
    var chunk: Chunk<Element> { Chunk((0..<elements.count).map { elements[$0] }) }
}
