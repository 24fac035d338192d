// feedbus: what is in an edge's buffer, and what fits into it.

extension EdgeStateMachine {
    /// A chunk in the buffer. It is weighed once, when it comes in.
    @usableFromInline
    struct Held: Sendable {
        @usableFromInline let chunk: Chunk<Element>
        /// 0 where weight does not count.
        @usableFromInline let weight: Int

        @inlinable
        init(chunk: Chunk<Element>, weight: Int) {
            self.chunk = chunk
            self.weight = weight
        }
    }

    /// How many elements may be in the buffer now. Without a buffer, as many as a waiting consumer takes at once.
    @inlinable var limit: Int { capacity == 0 && consumer != nil ? Swift.max(consumerMax, 1) : capacity }

    /// How many elements from the front of `chunk` fit now. One that is too heavy on its own passes when the edge is
    /// empty.
    @inlinable
    func fit(_ chunk: Chunk<Element>) -> Int { measure(chunk).count }

    /// How many elements from the front of `chunk` fit now, and what they weigh together.
    @inlinable
    func measure(_ chunk: Chunk<Element>) -> (count: Int, weight: Int) {
        let room = min(chunk.count, limit - buffered)
        guard let weight, room > 0 else { return (room, 0) }
        // Mostly all of it fits, and need not be looked at one by one.
        let all = total(weight, of: chunk.prefix(room))
        let (sum, overflow) = bufferedWeight.addingReportingOverflow(all)
        if !overflow, sum <= weight.limit { return (room, all) }
        var fitting = 0
        for index in 0..<room {
            let one = total(weight, of: chunk.prefix(index + 1).suffix(1))
            let (more, overflow) = fitting.addingReportingOverflow(one)
            let (sum, overflowing) = bufferedWeight.addingReportingOverflow(more)
            if (overflow || overflowing || sum > weight.limit) && buffered + index > 0 { return (index, fitting) }
            fitting = overflow ? .max : more
        }
        return (room, fitting)
    }

    /// Packed elements say themselves what they weigh.
    @inlinable
    func total(_ weight: Weight, of chunk: Chunk<Element>) -> Int {
        if let packing = chunk.packing { return packing.weight(of: chunk.lower..<chunk.upper) }
        return chunk.reduce(0) { sum, element in
            let (next, overflow) = sum.addingReportingOverflow(weight.of(element))
            return overflow ? .max : next
        }
    }

    /// - Parameter known: what the chunk weighs, where that has been measured.
    @inlinable
    mutating func append(_ chunk: Chunk<Element>, weighing known: Int? = nil) {
        guard !chunk.isEmpty else { return }
        var held = Held(chunk: chunk, weight: weight.map { known ?? total($0, of: chunk) } ?? 0)
        buffered += chunk.count
        bufferedWeight += held.weight
        // What had to wait for room comes behind its own beginning, and goes on with it.
        if chunk.lower > 0, !buffer.isEmpty {
            let last = buffer[buffer.count - 1]
            if let joined = last.chunk.joined(with: chunk) {
                held = Held(chunk: joined, weight: last.weight + held.weight)
                buffer[buffer.count - 1] = held
                return
            }
        }
        buffer.append(held)
    }

    /// Handed out as it is: it would have to be copied to be joined with another.
    @inlinable
    static func isLarge(_ chunk: Chunk<Element>) -> Bool {
        chunk.count >= (chunk.packing == nil ? joinLimit : joinLimit / 4)
    }

    /// Takes at most `max` elements from the front, joining small chunks with small ones. Never fewer than one.
    @inlinable
    mutating func take(_ max: Int) -> Chunk<Element> {
        let wanted = min(Swift.max(max, 1), buffered)
        var taken = buffer[0]
        if taken.chunk.count > wanted {
            taken = takePart(wanted)
        } else {
            _ = buffer.popFirst()
            if taken.chunk.count < wanted, !Self.isLarge(taken.chunk), !Self.isLarge(buffer[0].chunk) {
                taken = join(taken, upTo: wanted)
            }
        }
        buffered -= taken.chunk.count
        bufferedWeight = buffered == 0 ? 0 : bufferedWeight - taken.weight
        return taken.chunk
    }

    /// The first elements of the first chunk, which has more of them.
    @inlinable
    mutating func takePart(_ number: Int) -> Held {
        let whole = buffer[0]
        let part = whole.chunk.prefix(number)
        let partWeight = weight.map { total($0, of: part) } ?? 0
        buffer[0] = Held(chunk: whole.chunk.dropFirst(number), weight: whole.weight - partWeight)
        return Held(chunk: part, weight: partWeight)
    }

    @inlinable
    mutating func join(_ first: Held, upTo wanted: Int) -> Held {
        var joined = [Element]()
        joined.reserveCapacity(min(wanted, 2 * Self.joinLimit))
        joined.append(contentsOf: first.chunk)
        var sum = first.weight
        while joined.count < wanted, joined.count < Self.joinLimit {
            // A large one is handed out next, as it is, and not copied.
            if Self.isLarge(buffer[0].chunk) { break }
            let next: Held
            if joined.count + buffer[0].chunk.count > wanted {
                next = takePart(wanted - joined.count)
            } else {
                next = buffer[0]
                _ = buffer.popFirst()
            }
            joined.append(contentsOf: next.chunk)
            sum += next.weight
        }
        return Held(chunk: Chunk(joined), weight: sum)
    }
}
