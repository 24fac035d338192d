// feedbus: a queue in a ring: the storage of edges, subjects and gates.

/// First in, first out, with constant-time ends. Holds nothing that was taken out.
@usableFromInline
struct Ring<Element: Sendable>: Sendable {
    /// Its length is zero or a power of two, so that positions wrap by a mask.
    @usableFromInline var slots: [Element?] = []
    /// As short as that because an idle subscription has three rings.
    @usableFromInline var start: UInt32 = 0
    @usableFromInline var length: UInt32 = 0

    @inlinable
    init() {}

    @inlinable var isEmpty: Bool { length == 0 }

    @inlinable
    var count: Int {
        get { Int(truncatingIfNeeded: length) }
        set { length = UInt32(truncatingIfNeeded: newValue) }
    }

    @inlinable
    var head: Int {
        get { Int(truncatingIfNeeded: start) }
        set { start = UInt32(truncatingIfNeeded: newValue) }
    }

    /// The element at `offset` from the front.
    @inlinable
    subscript(offset: Int) -> Element {
        get {
            guard let element = slots[(head + offset) & (slots.count - 1)] else {
                preconditionFailure("offset outside the queue")
            }
            return element
        }
        set { slots[(head + offset) & (slots.count - 1)] = newValue }
    }

    @inlinable var first: Element? { count == 0 ? nil : slots[head] }

    @inlinable
    mutating func append(_ element: Element) {
        if count == slots.count { grow() }
        slots[(head + count) & (slots.count - 1)] = element
        count += 1
    }

    @inlinable
    mutating func append(contentsOf chunk: Chunk<Element>) {
        if chunk.count == 1 { return append(chunk[0]) }
        if !chunk.isEmpty { chunk.withElements { for element in $0 { append(element) } } }
    }

    /// Puts an element in front of all others.
    @inlinable
    mutating func prepend(_ element: Element) {
        if count == slots.count { grow() }
        head = (head &- 1) & (slots.count - 1)
        slots[head] = element
        count += 1
    }

    @inlinable
    mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        let element = slots[head].take()
        head = (head + 1) & (slots.count - 1)
        count -= 1
        // A burst must not cost memory for ever.
        if count == 0, slots.count > 64 { self = Ring() }
        return element
    }

    /// Takes out the element at the front; there must be one.
    @inlinable
    mutating func removeFirst() -> Element {
        guard let element = popFirst() else { preconditionFailure("an empty queue") }
        return element
    }

    /// Takes out the element at the back; there must be one.
    @inlinable
    mutating func removeLast() {
        slots[(head + count - 1) & (slots.count - 1)] = nil
        count -= 1
    }

    /// Takes out the first element that satisfies `predicate`; linear.
    @inlinable
    mutating func remove(where predicate: (Element) -> Bool) -> Element? {
        guard let offset = (0..<count).first(where: { predicate(self[$0]) }) else { return nil }
        let element = self[offset]
        for later in offset + 1..<max(count, offset + 1) { self[later - 1] = self[later] }
        slots[(head + count - 1) & (slots.count - 1)] = nil
        count -= 1
        return element
    }

    /// Empties the queue and returns what it held, in order.
    @inlinable
    mutating func removeAll() -> [Element] {
        let elements = (0..<count).map { self[$0] }
        self = Ring()
        return elements
    }

    @inlinable
    mutating func grow() {
        precondition(slots.count < 1 << 31, "a queue of more than two thousand million elements")
        var larger = [Element?](repeating: nil, count: Swift.max(4, slots.count * 2))
        for offset in 0..<count { larger[offset] = slots[(head + offset) & (slots.count - 1)] }
        slots = larger
        head = 0
    }
}
