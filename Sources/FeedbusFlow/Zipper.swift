// feedbus: what zip keeps of its flows.

/// The queues of a `zip` of any number of flows. Touched inside the gate only.
@usableFromInline
struct Zipper<Element: Sendable>: ZipQueues {
    @usableFromInline typealias Row = [Element]

    @usableFromInline var sides: [ZipSide]
    @usableFromInline var queues: [Ring<Element>]

    @inlinable
    init(_ number: Int) {
        sides = (0..<number).map { _ in ZipSide() }
        queues = Array(repeating: Ring(), count: number)
    }

    @inlinable
    func count(at index: Int) -> Int { queues[index].count }

    /// Takes a chunk of one flow, and hands out the rows that are full then.
    @inlinable
    mutating func rows(with chunk: Chunk<Element>, at index: Int) -> Chunk<[Element]> {
        queues[index].append(contentsOf: chunk)
        let number = queues.reduce(.max) { min($0, $1.count) }
        if number == 0 { return Chunk() }
        return Chunk((0..<number).map { _ in queues.indices.map { queues[$0].removeFirst() } })
    }
}

/// The queues of a `zip` of two flows: one of them is always empty. Touched inside the gate only.
@usableFromInline
struct PairZipper<Left: Sendable, Right: Sendable>: ZipQueues {
    @usableFromInline typealias Row = (Left, Right)

    @usableFromInline var sides = [ZipSide(), ZipSide()]
    @usableFromInline var made = OneByOne<(Left, Right)>()
    @usableFromInline var left = Ring<Left>()
    @usableFromInline var right = Ring<Right>()

    @inlinable
    init() {}

    @inlinable
    func count(at index: Int) -> Int { index == 0 ? left.count : right.count }

    @inlinable
    mutating func pairs(withLeft chunk: Chunk<Left>) -> Chunk<(Left, Right)> {
        let number = min(chunk.count, right.count)
        left.append(contentsOf: chunk.dropFirst(number))
        return number == 0 ? Chunk() : made.mapped(chunk.prefix(number)) { ($0, right.removeFirst()) }
    }

    @inlinable
    mutating func pairs(withRight chunk: Chunk<Right>) -> Chunk<(Left, Right)> {
        let number = min(chunk.count, left.count)
        right.append(contentsOf: chunk.dropFirst(number))
        return number == 0 ? Chunk() : made.mapped(chunk.prefix(number)) { (left.removeFirst(), $0) }
    }
}
