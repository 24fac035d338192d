// feedbus: the last elements of a subject.

public import FeedbusBase

/// Keeps the last `capacity` elements, of a certain age at most, and nothing else: what leaves it is released at once.
@usableFromInline
struct ReplayBuffer<Element: Sendable>: Sendable {
    /// What it forgets by time.
    @usableFromInline
    struct Age: Sendable {
        @usableFromInline let limit: Duration
        @usableFromInline let clock: any EventClock
        /// When each element came.
        @usableFromInline var times = Ring<Instant>()

        @usableFromInline
        init(limit: Duration, clock: any EventClock) {
            self.limit = limit
            self.clock = clock
        }
    }

    @usableFromInline let capacity: Int
    @usableFromInline var elements = Ring<Element>()
    @usableFromInline var age: Age?

    @inlinable
    init(capacity: Int, age: Age? = nil) {
        self.capacity = capacity
        self.age = age
    }

    @inlinable
    mutating func append(_ chunk: Chunk<Element>) {
        if age != nil { forget() }
        for element in chunk.suffix(capacity) {
            if elements.count == capacity {
                _ = elements.popFirst()
                _ = age?.times.popFirst()
            }
            elements.append(element)
            if let now = age?.clock.now { age?.times.append(now) }
        }
    }

    @inlinable
    mutating func removeAll() {
        elements = Ring()
        age?.times = Ring()
    }

    /// Lets go of what is too old: of an element exactly as old as the limit, too.
    @usableFromInline
    mutating func forget() {
        guard let (limit, clock) = age.map({ ($0.limit, $0.clock) }) else { return }
        while let first = age?.times.first, first + limit <= clock.now {
            _ = elements.popFirst()
            _ = age?.times.popFirst()
        }
    }

    /// What a late subscriber gets first.
    @inlinable
    var chunk: Chunk<Element> { Chunk((0..<elements.count).map { elements[$0] }) }
}
