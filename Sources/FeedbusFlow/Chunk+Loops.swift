// feedbus: the inner loops of map, scan and filter, straight from storage to storage.

extension Chunk {
    /// What `transform` makes of each element.
    @inlinable
    func mapped<Output: Sendable>(_ transform: (Element) -> Output) -> Chunk<Output> {
        if count == 1 { return Chunk<Output>(one: transform(self[0])) }
        return Chunk<Output>(
            [Output](unsafeUninitializedCapacity: count) { buffer, written in
                withElements { elements in
                    for index in 0..<elements.count {
                        buffer.initializeElement(at: index, to: transform(elements[index]))
                    }
                }
                written = count
            })
    }

    /// Runs `body` over the elements in place; packed ones are made for it.
    @inlinable
    func withElements<Result>(_ body: (UnsafeBufferPointer<Element>) -> Result) -> Result {
        guard case .array(let all) = storage else { return array.withUnsafeBufferPointer(body) }
        return all.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[lower..<upper])) }
    }

    /// Writes what `transform` makes of each element, up to the first that it throws for.
    /// - Parameter count: elements written.
    /// - Returns: what it threw.
    @inlinable
    func fill<Output>(
        _ buffer: UnsafeMutableBufferPointer<Output>, _ count: inout Int, _ transform: (Element) throws -> Output
    ) -> (any Error)? {
        withElements { elements in
            do {
                for index in 0..<elements.count {
                    buffer.initializeElement(at: index, to: try transform(elements[index]))
                    count = index + 1
                }
                return nil
            } catch {
                return error
            }
        }
    }

    /// Writes the elements that satisfy the predicate, up to the first that it throws for. The first `passed` do, and the
    /// next one does not.
    /// - Parameter count: elements written.
    /// - Returns: what it threw.
    @inlinable
    func pick(
        _ buffer: UnsafeMutableBufferPointer<Element>, _ count: inout Int, passed: Int,
        _ isIncluded: (Element) throws -> Bool
    ) -> (any Error)? {
        withElements { elements in
            for index in 0..<passed { buffer.initializeElement(at: index, to: elements[index]) }
            var written = passed
            defer { count = written }
            do {
                for index in passed + 1..<elements.count where try isIncluded(elements[index]) {
                    buffer.initializeElement(at: written, to: elements[index])
                    written += 1
                }
                return nil
            } catch {
                return error
            }
        }
    }
}

/// What an operator makes of chunks, without an allocation for each chunk of one: its storage serves again, unless somebody
/// has kept the last one.
@usableFromInline
struct OneByOne<Output: Sendable>: Sendable {
    @usableFromInline var storage: [Output] = []

    @inlinable
    init() {}

    /// `chunk.mapped(transform)`.
    @inlinable
    mutating func mapped<Element>(_ chunk: Chunk<Element>, _ transform: (Element) -> Output) -> Chunk<Output> {
        guard chunk.count == 1 else { return chunk.mapped(transform) }
        let output = transform(chunk[0])
        if storage.isEmpty { storage.append(output) } else { storage[0] = output }
        return Chunk(storage)
    }
}
