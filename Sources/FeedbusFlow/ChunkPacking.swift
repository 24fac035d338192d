// feedbus: the packed elements of chunks, behind one reference.

/// Keeps a packing for all chunks that are parts of it.
@usableFromInline
final class ChunkPacking<Element: Sendable>: Sendable {
    let elements: any PackedElements<Element>

    init(_ elements: any PackedElements<Element>) { self.elements = elements }

    @usableFromInline
    func element(at index: Int) -> Element { elements.element(at: index) }

    @usableFromInline
    func elements(in range: Range<Int>) -> [Element] { range.map { elements.element(at: $0) } }

    @usableFromInline
    func weight(of range: Range<Int>) -> Int { elements.weight(of: range) }
}
