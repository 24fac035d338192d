// feedbus: some elements of a chunk.

extension Chunk {
    /// The elements whose index is to be kept, in order: the chunk itself, or a slice of it, where they are one run.
    /// - Parameter isKept: asked once for each index, in order.
    @inlinable
    public func keeping(_ isKept: (Int) throws -> Bool) rethrows -> Chunk {
        try withUnsafeTemporaryAllocation(of: Bool.self, capacity: count) { flags in
            var number = 0
            var first = count
            var end = 0
            for index in 0..<count {
                let keeps = try isKept(index)
                flags.initializeElement(at: index, to: keeps)
                if keeps {
                    number += 1
                    first = Swift.min(first, index)
                    end = index + 1
                }
            }
            if number == 0 { return Chunk() }
            if end - first == number { return prefix(end).dropFirst(first) }
            return Chunk(
                [Element](unsafeUninitializedCapacity: number) { target, count in
                    for index in first..<end where flags[index] {
                        target.initializeElement(at: count, to: self[index])
                        count += 1
                    }
                })
        }
    }
}
