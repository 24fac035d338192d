// feedbus: what a loop has still to run, first in, first out.

/// One thing to run on a loop.
enum LoopWork {
    /// A step of a task, from the Swift runtime.
    case job(UnownedJob)
    /// A plain call.
    case call(@Sendable () -> Void)
}

/// A queue in a ring that grows as needed and gives its memory back after a burst.
struct WorkQueue: ~Copyable {
    private static let smallest = 256
    private static let kept = 8_192

    private var items: UnsafeMutablePointer<LoopWork>
    private var capacity = WorkQueue.smallest  // a power of two
    private var head = 0
    private(set) var count = 0

    init() { items = .allocate(capacity: capacity) }

    deinit {
        for offset in 0..<count { (items + ((head + offset) & (capacity - 1))).deinitialize(count: 1) }
        items.deallocate()
    }

    @inline(__always)
    var isEmpty: Bool { count == 0 }

    @inline(__always)
    mutating func append(_ work: consuming LoopWork) {
        if count == capacity { resize(to: capacity * 2) }
        (items + ((head + count) & (capacity - 1))).initialize(to: work)
        count += 1
    }

    @inline(__always)
    mutating func popFirst() -> LoopWork? {
        guard count > 0 else {
            if capacity > WorkQueue.kept { resize(to: WorkQueue.smallest) }
            return nil
        }
        let first = (items + head).move()
        head = (head + 1) & (capacity - 1)
        count -= 1
        return first
    }

    private mutating func resize(to newCapacity: Int) {
        let newItems = UnsafeMutablePointer<LoopWork>.allocate(capacity: newCapacity)
        let first = min(count, capacity - head)
        newItems.moveInitialize(from: items + head, count: first)
        (newItems + first).moveInitialize(from: items, count: count - first)
        items.deallocate()
        items = newItems
        capacity = newCapacity
        head = 0
    }
}
