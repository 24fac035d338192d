// feedbus: the policies of an edge that lose elements: which ones, exactly.

extension EdgeStateMachine {
    /// Puts in what fits, each element for itself, and returns what was refused.
    @inlinable
    mutating func insert(_ chunk: Chunk<Element>) -> Chunk<Element> {
        if weightLimit == .max {
            let fitting = fit(chunk)
            append(chunk.prefix(fitting))
            return chunk.dropFirst(fitting)
        }
        var refused: [Element] = []
        for element in chunk {
            let one = Chunk(one: element)
            if fit(one) == 1 { append(one) } else { refused.append(element) }
        }
        return Chunk(refused)
    }

    /// Puts in all, and returns the oldest that had to go, oldest first: buffered ones, then the chunk's own.
    @inlinable
    mutating func insertNewest(_ chunk: Chunk<Element>) -> Chunk<Element> {
        if weightLimit == .max {
            let newest = chunk.suffix(limit)
            let removed = removeOldest(max(0, buffered + newest.count - limit))
            append(newest)
            let skipped = chunk.prefix(chunk.count - newest.count)
            if removed.isEmpty { return skipped }
            return skipped.isEmpty ? removed : Chunk(removed.array + skipped.array)
        }
        var gone: [Element] = []
        for element in chunk {
            let one = Chunk(one: element)
            while fit(one) == 0, buffered > 0 { gone.append(contentsOf: removeOldest(1)) }
            if fit(one) == 1 { append(one) } else { gone.append(element) }
        }
        return Chunk(gone)
    }

    @inlinable
    mutating func removeOldest(_ number: Int) -> Chunk<Element> {
        guard number > 0 else { return Chunk() }
        if number == buffer[0].count || number < buffer[0].count { return take(number) }
        var removed: [Element] = []
        while removed.count < number { removed.append(contentsOf: take(number - removed.count)) }
        return Chunk(removed)
    }

    @inlinable
    mutating func drop(_ chunk: Chunk<Element>, _ actions: inout Actions) {
        guard !chunk.isEmpty else { return }
        dropped += chunk.count
        actions.dropped = chunk
    }
}
