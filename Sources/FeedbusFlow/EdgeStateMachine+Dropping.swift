// feedbus: the policies of an edge that lose elements: which ones, exactly.

extension EdgeStateMachine {
    /// Puts in what fits, each element for itself, and returns what was refused.
    @inlinable
    mutating func insert(_ chunk: Chunk<Element>) -> Chunk<Element> {
        if weight == nil {
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
        if weight == nil {
            let newest = chunk.suffix(limit)
            let removed = removeOldest(max(0, buffered + newest.count - limit))
            append(newest)
            let skipped = chunk.prefix(chunk.count - newest.count)
            if removed.isEmpty { return skipped }
            return skipped.isEmpty ? removed : Chunk(removed.array + skipped.array)
        }
        return insert(chunk) { $0.removeOldest(1) }
    }

    /// Puts in all, each element for itself, as far as `makeRoom` finds room for it, and returns what had to go.
    @inlinable
    mutating func insert(
        _ chunk: Chunk<Element>, makeRoom: (inout EdgeStateMachine) -> Chunk<Element>
    ) -> Chunk<Element> {
        var gone: [Element] = []
        for element in chunk {
            let one = Chunk(one: element)
            while fit(one) == 0, buffered > 0 { gone.append(contentsOf: makeRoom(&self)) }
            if fit(one) == 1 { append(one) } else { gone.append(element) }
        }
        return Chunk(gone)
    }

    /// Takes out the element that came last.
    @inlinable
    mutating func removeLast() -> Chunk<Element> {
        let place = buffer.count - 1
        let (chunk, heldWeight) = (buffer[place].chunk, buffer[place].weight)
        let removed = chunk.suffix(1)
        let removedWeight = weight.map { total($0, of: removed) } ?? 0
        if chunk.count == 1 {
            buffer.removeLast()
        } else {
            buffer[place] = Held(chunk: chunk.prefix(chunk.count - 1), weight: heldWeight - removedWeight)
        }
        buffered -= 1
        bufferedWeight -= removedWeight
        return removed
    }

    @inlinable
    mutating func removeOldest(_ number: Int) -> Chunk<Element> {
        guard number > 0 else { return Chunk() }
        if number <= buffer[0].chunk.count { return take(number) }
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
