// feedbus: the elements that travel together.

/// A shared, immutable run of elements: everything in a flow moves in chunks; one element is a chunk of one.
///
/// Copying and slicing share the storage. Indices count from zero, also in a slice.
public struct Chunk<Element: Sendable>: Sendable {
    @usableFromInline let storage: [Element]
    @usableFromInline let lower: Int
    @usableFromInline let upper: Int

    @inlinable
    init(storage: [Element], lower: Int, upper: Int) {
        self.storage = storage
        self.lower = lower
        self.upper = upper
    }

    @inlinable
    public init() { self.init(storage: [], lower: 0, upper: 0) }

    /// Shares the array's storage.
    @inlinable
    public init(_ elements: [Element]) { self.init(storage: elements, lower: 0, upper: elements.count) }

    @inlinable
    public init(one element: Element) { self.init(storage: [element], lower: 0, upper: 1) }

    @inlinable
    public init(_ elements: ArraySlice<Element>) { self.init(Array(elements)) }

    /// The first `maximum` elements, or all; shares the storage.
    @inlinable
    public func prefix(_ maximum: Int) -> Chunk {
        Chunk(storage: storage, lower: lower, upper: lower + Swift.min(Swift.max(maximum, 0), count))
    }

    /// The last `maximum` elements, or all; shares the storage.
    @inlinable
    public func suffix(_ maximum: Int) -> Chunk {
        Chunk(storage: storage, lower: upper - Swift.min(Swift.max(maximum, 0), count), upper: upper)
    }

    /// All but the first `number` elements; shares the storage.
    @inlinable
    public func dropFirst(_ number: Int = 1) -> Chunk {
        Chunk(storage: storage, lower: lower + Swift.min(Swift.max(number, 0), count), upper: upper)
    }

    /// The elements as an array; no copy where the chunk is a whole array.
    @inlinable
    public var array: [Element] {
        lower == 0 && upper == storage.count ? storage : Array(storage[lower..<upper])
    }
}

extension Chunk: RandomAccessCollection {
    @inlinable public var startIndex: Int { 0 }
    @inlinable public var endIndex: Int { upper - lower }
    @inlinable public var count: Int { upper - lower }
    @inlinable public var isEmpty: Bool { upper == lower }

    @inlinable
    public subscript(position: Int) -> Element {
        precondition(position >= 0 && position < upper - lower, "index out of the chunk's range")
        return storage[lower + position]
    }

    @inlinable
    public func withContiguousStorageIfAvailable<Result>(
        _ body: (UnsafeBufferPointer<Element>) throws -> Result
    ) rethrows -> Result? {
        try storage[lower..<upper].withContiguousStorageIfAvailable(body)
    }
}

extension Chunk: ExpressibleByArrayLiteral {
    @inlinable
    public init(arrayLiteral elements: Element...) { self.init(elements) }
}

extension Chunk: Equatable where Element: Equatable {
    @inlinable
    public static func == (left: Chunk, right: Chunk) -> Bool { left.elementsEqual(right) }
}

extension Chunk: Hashable where Element: Hashable {
    @inlinable
    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        for element in self { hasher.combine(element) }
    }
}

extension Chunk: CustomStringConvertible {
    public var description: String { String(describing: Array(self)) }
}
