// feedbus: what zip keeps of its flows.

/// The queues of one `zip`. Touched inside the gate only.
@usableFromInline
struct Zipper<Element: Sendable> {
    @usableFromInline var queues: [Ring<Chunk<Element>>]
    @usableFromInline var counts: [Int]
    @usableFromInline var isCompleted: [Bool]
    /// The flow waits for room in its queue.
    @usableFromInline var isHeld: [Bool]

    @inlinable
    init(_ number: Int) {
        queues = Array(repeating: Ring(), count: number)
        counts = Array(repeating: 0, count: number)
        isCompleted = Array(repeating: false, count: number)
        isHeld = isCompleted
    }

    @inlinable
    mutating func append(_ chunk: Chunk<Element>, to index: Int) {
        queues[index].append(chunk)
        counts[index] += chunk.count
    }

    /// Full rows that can be made now.
    @inlinable var rowCount: Int { counts.min() ?? 0 }

    /// No row can come any more: a completed flow has nothing queued.
    @inlinable var isDone: Bool { counts.indices.contains { isCompleted[$0] && counts[$0] == 0 } }

    /// The next `number` elements of one flow.
    @inlinable
    mutating func take(_ number: Int, from index: Int) -> Chunk<Element> {
        counts[index] -= number
        let first = queues[index][0]
        if first.count > number {
            queues[index][0] = first.dropFirst(number)
            return first.prefix(number)
        }
        _ = queues[index].popFirst()
        if first.count == number { return first }
        var elements = first.array
        while elements.count < number {
            let next = queues[index][0]
            let missing = number - elements.count
            elements.append(contentsOf: next.prefix(missing))
            if next.count > missing { queues[index][0] = next.dropFirst(missing) } else { _ = queues[index].popFirst() }
        }
        return Chunk(elements)
    }

    /// Which held flows may go on. Half of the buffer must be free, so that not every element costs a hand-off.
    @inlinable
    mutating func release(buffer: Int) -> [Int] {
        let released = counts.indices.filter { isHeld[$0] && counts[$0] <= buffer / 2 }
        for index in released { isHeld[index] = false }
        return released
    }
}
