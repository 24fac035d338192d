// feedbus: what zip keeps of its flows.

/// The queues of a `zip` of any number of flows. Touched inside the gate only.
@usableFromInline
struct Zipper<Element: Sendable>: ZipQueues {
    @usableFromInline typealias Row = [Element]

    @usableFromInline var sides: [ZipSide]
    @usableFromInline var queues: [ZipQueue<Element>]

    @inlinable
    init(_ number: Int) {
        sides = (0..<number).map { _ in ZipSide() }
        queues = Array(repeating: ZipQueue(), count: number)
    }

    /// Takes a chunk of one flow, and hands out the rows that are full then.
    @inlinable
    mutating func rows(with chunk: Chunk<Element>, at index: Int) -> Chunk<[Element]> {
        queues[index].append(chunk)
        sides[index].count += chunk.count
        let number = sides.reduce(.max) { min($0, $1.count) }
        guard number > 0 else { return Chunk() }
        let columns = queues.indices.map { index in
            sides[index].count -= number
            return queues[index].take(number)
        }
        return Chunk((0..<number).map { row in columns.map { $0[row] } })
    }
}

/// The queues of a `zip` of two flows: one of them is always empty. Touched inside the gate only.
@usableFromInline
struct PairZipper<Left: Sendable, Right: Sendable>: ZipQueues {
    @usableFromInline typealias Row = (Left, Right)

    @usableFromInline var sides = [ZipSide(), ZipSide()]
    @usableFromInline var left = ZipQueue<Left>()
    @usableFromInline var right = ZipQueue<Right>()

    @inlinable
    init() {}

    @inlinable
    mutating func pairs(withLeft chunk: Chunk<Left>) -> Chunk<(Left, Right)> {
        let number = paired(chunk.count, at: 0)
        left.append(chunk.dropFirst(number))
        return number == 0 ? Chunk() : Self.pairs(number, chunk, right.take(number))
    }

    @inlinable
    mutating func pairs(withRight chunk: Chunk<Right>) -> Chunk<(Left, Right)> {
        let number = paired(chunk.count, at: 1)
        right.append(chunk.dropFirst(number))
        return number == 0 ? Chunk() : Self.pairs(number, left.take(number), chunk)
    }

    /// How many of `count` new elements of one side have a partner. The counts are brought up to date.
    @inlinable
    mutating func paired(_ count: Int, at index: Int) -> Int {
        let number = min(count, sides[1 - index].count)
        sides[1 - index].count -= number
        sides[index].count += count - number
        return number
    }

    @inlinable
    static func pairs(_ number: Int, _ left: Chunk<Left>, _ right: Chunk<Right>) -> Chunk<(Left, Right)> {
        if number == 1 { return Chunk(one: (left[0], right[0])) }
        return Chunk(
            [(Left, Right)](unsafeUninitializedCapacity: number) { buffer, written in
                left.withElements { left in
                    right.withElements { right in
                        for index in 0..<number {
                            buffer.initializeElement(at: index, to: (left[index], right[index]))
                        }
                    }
                }
                written = number
            })
    }
}

/// The chunks of one flow of a zip that wait for partners.
@usableFromInline
struct ZipQueue<Element: Sendable>: Sendable {
    @usableFromInline var chunks = Ring<Chunk<Element>>()

    @inlinable
    init() {}

    @inlinable
    mutating func append(_ chunk: Chunk<Element>) {
        if !chunk.isEmpty { chunks.append(chunk) }
    }

    /// The next `number` elements, 1...; there must be as many.
    @inlinable
    mutating func take(_ number: Int) -> Chunk<Element> {
        let first = chunks[0]
        if first.count > number {
            chunks[0] = first.dropFirst(number)
            return first.prefix(number)
        }
        _ = chunks.popFirst()
        if first.count == number { return first }
        var elements = first.array
        elements.reserveCapacity(number)
        while elements.count < number {
            let next = chunks[0]
            let missing = number - elements.count
            elements.append(contentsOf: next.prefix(missing))
            if next.count > missing { chunks[0] = next.dropFirst(missing) } else { _ = chunks.popFirst() }
        }
        return Chunk(elements)
    }
}
