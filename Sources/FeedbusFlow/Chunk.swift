// feedbus: the elements that travel together.

/// A shared, immutable run of elements: everything in a flow moves in chunks; one element is a chunk of one.
///
/// Copying and slicing share the storage. Indices count from zero, also in a slice.
public struct Chunk<Element: Sendable>: Sendable {
    /// One reference either way: a chunk is copied more often than looked into.
    @usableFromInline
    enum Storage: Sendable {
        case array([Element])
        case packed(Packing)
    }

    @usableFromInline typealias Packing = ChunkPacking<Element>

    @usableFromInline let storage: Storage
    @usableFromInline let lower: Int
    @usableFromInline let upper: Int

    @inlinable
    init(storage: Storage, lower: Int, upper: Int) {
        self.storage = storage
        self.lower = lower
        self.upper = upper
    }

    /// All elements of a packing, none of which is made.
    package init(packed: any PackedElements<Element>) {
        self.init(storage: .packed(Packing(packed)), lower: 0, upper: packed.count)
    }

    /// The packing that the chunk is a part of, and which part; nil where it is an array.
    package var packed: (elements: any PackedElements<Element>, range: Range<Int>)? {
        packing.map { ($0.elements, lower..<upper) }
    }

    @inlinable
    var packing: Packing? {
        if case .packed(let packing) = storage { packing } else { nil }
    }

    @inlinable
    func slice(_ lower: Int, _ upper: Int) -> Chunk {
        Chunk(storage: storage, lower: lower, upper: upper)
    }

    @inlinable
    public init() { self.init(storage: .array([]), lower: 0, upper: 0) }

    /// Shares the array's storage.
    @inlinable
    public init(_ elements: [Element]) { self.init(storage: .array(elements), lower: 0, upper: elements.count) }

    @inlinable
    public init(one element: Element) { self.init(storage: .array([element]), lower: 0, upper: 1) }

    @inlinable
    public init(_ elements: ArraySlice<Element>) { self.init(Array(elements)) }

    /// The first `maximum` elements, or all; shares the storage.
    @inlinable
    public func prefix(_ maximum: Int) -> Chunk {
        slice(lower, lower + Swift.min(Swift.max(maximum, 0), count))
    }

    /// The last `maximum` elements, or all; shares the storage.
    @inlinable
    public func suffix(_ maximum: Int) -> Chunk {
        slice(upper - Swift.min(Swift.max(maximum, 0), count), upper)
    }

    /// All but the first `number` elements; shares the storage.
    @inlinable
    public func dropFirst(_ number: Int = 1) -> Chunk {
        slice(lower + Swift.min(Swift.max(number, 0), count), upper)
    }

    /// The elements as an array; no copy where the chunk is a whole array.
    @inlinable
    public var array: [Element] {
        switch storage {
        case .array(let all): lower == 0 && upper == all.count ? all : Array(all[lower..<upper])
        case .packed(let packing): packing.elements(in: lower..<upper)
        }
    }

    /// This chunk and `next` as one, where they are neighbours of one storage and nothing has to be copied for it.
    @inlinable
    func joined(with next: Chunk) -> Chunk? {
        guard upper == next.lower else { return nil }
        let isSame =
            switch (storage, next.storage) {
            case (.packed(let mine), .packed(let its)): mine === its
            case (.array(let mine), .array(let its)):
                mine.withUnsafeBufferPointer { mine in
                    its.withUnsafeBufferPointer { mine.baseAddress == $0.baseAddress }
                }
            default: false
            }
        return isSame ? slice(lower, next.upper) : nil
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
        switch storage {
        case .array(let all): return all[lower + position]
        case .packed(let packing): return packing.element(at: lower + position)
        }
    }

    @inlinable
    public func withContiguousStorageIfAvailable<Result>(
        _ body: (UnsafeBufferPointer<Element>) throws -> Result
    ) rethrows -> Result? {
        guard case .array(let all) = storage else { return nil }
        return try all[lower..<upper].withContiguousStorageIfAvailable(body)
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
