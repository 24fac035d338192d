// feedbus: what is in an edge's buffer, and what fits into it.

extension EdgeStateMachine {
    /// How many elements may be in the buffer now. Without a buffer, as many as a waiting consumer takes at once.
    @inlinable var limit: Int { capacity == 0 && consumer != nil ? Swift.max(consumerMax, 1) : capacity }

    /// How many elements from the front of `chunk` fit now. One that is too heavy on its own passes when the edge is
    /// empty.
    @inlinable
    func fit(_ chunk: Chunk<Element>) -> Int {
        let room = min(chunk.count, limit - buffered)
        guard let weight else { return room }
        var total = bufferedWeight
        for index in 0..<max(room, 0) {
            let (sum, overflow) = total.addingReportingOverflow(weight.of(chunk[index]))
            if (overflow || sum > weight.limit) && buffered + index > 0 { return index }
            total = overflow ? .max : sum
        }
        return room
    }

    @inlinable
    func total(_ weight: Weight, of chunk: Chunk<Element>) -> Int {
        chunk.reduce(0) { sum, element in
            let (next, overflow) = sum.addingReportingOverflow(weight.of(element))
            return overflow ? .max : next
        }
    }

    @inlinable
    mutating func append(_ chunk: Chunk<Element>) {
        guard !chunk.isEmpty else { return }
        buffer.append(chunk)
        buffered += chunk.count
        if let weight { bufferedWeight += total(weight, of: chunk) }
    }

    /// Takes at most `max` elements from the front, joining small chunks with small ones. Never fewer than one.
    @inlinable
    mutating func take(_ max: Int) -> Chunk<Element> {
        let wanted = min(Swift.max(max, 1), buffered)
        var taken = buffer[0]
        if taken.count > wanted {
            buffer[0] = taken.dropFirst(wanted)
            taken = taken.prefix(wanted)
        } else {
            _ = buffer.popFirst()
            if taken.count < wanted, taken.count < Self.joinLimit, buffer[0].count < Self.joinLimit {
                taken = join(taken, upTo: wanted)
            }
        }
        buffered -= taken.count
        if let weight { bufferedWeight = buffered == 0 ? 0 : bufferedWeight - total(weight, of: taken) }
        return taken
    }

    @inlinable
    mutating func join(_ first: Chunk<Element>, upTo wanted: Int) -> Chunk<Element> {
        var joined = [Element]()
        joined.reserveCapacity(min(wanted, 2 * Self.joinLimit))
        joined.append(contentsOf: first)
        while joined.count < wanted, joined.count < Self.joinLimit {
            let next = buffer[0]
            // A large one is handed out next, as it is, and not copied.
            if next.count >= Self.joinLimit { break }
            if joined.count + next.count > wanted {
                let part = wanted - joined.count
                buffer[0] = next.dropFirst(part)
                joined.append(contentsOf: next.prefix(part))
            } else {
                _ = buffer.popFirst()
                joined.append(contentsOf: next)
            }
        }
        return Chunk(joined)
    }
}
