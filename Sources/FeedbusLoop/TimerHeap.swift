// feedbus: deadlines in order.

/// Something that happens at a deadline. It is in one heap at most.
class TimerEntry {
    fileprivate(set) var deadline: Int64 = 0
    fileprivate var sequence: UInt64 = 0
    fileprivate var index = -1

    /// For the report of slow callbacks.
    var name: String { "timer" }
    /// The deadline has come. The entry is out of the heap and may be scheduled again.
    func fire() {}
    /// The loop is closing: the deadline will never come.
    func abandon() {}
}

/// A binary heap of entries by deadline, and by age where deadlines are equal. All operations are O(log n).
struct TimerHeap {
    private var entries: [TimerEntry] = []
    /// What the next entry that is inserted will be numbered with.
    private(set) var nextSequence: UInt64 = 0

    /// The first deadline; nil when there is none.
    var first: Int64? { entries.first?.deadline }

    var count: Int { entries.count }

    /// Schedules an entry, or moves it when it is scheduled already.
    mutating func insert(_ entry: TimerEntry, at deadline: Int64) {
        remove(entry)
        entry.deadline = deadline
        entry.sequence = nextSequence
        nextSequence += 1
        entry.index = entries.count
        entries.append(entry)
        siftUp(entry.index)
    }

    /// False where the entry was not scheduled.
    @discardableResult
    mutating func remove(_ entry: TimerEntry) -> Bool {
        let index = entry.index
        guard index >= 0 else { return false }
        entry.index = -1
        let last = entries.removeLast()
        if last !== entry {
            entries[index] = last
            last.index = index
            siftDown(index)
            siftUp(last.index)
        }
        return true
    }

    /// Takes the first entry that is due, if it was inserted before number `sequence`: entries that are scheduled while
    /// others fire wait for the next round.
    mutating func popDue(now: Int64, before sequence: UInt64) -> TimerEntry? {
        guard let first = entries.first, first.deadline <= now, first.sequence < sequence else { return nil }
        remove(first)
        return first
    }

    private func isBefore(_ left: Int, _ right: Int) -> Bool {
        let (a, b) = (entries[left], entries[right])
        return a.deadline != b.deadline ? a.deadline < b.deadline : a.sequence < b.sequence
    }

    private mutating func exchange(_ left: Int, _ right: Int) {
        entries.swapAt(left, right)
        entries[left].index = left
        entries[right].index = right
    }

    private mutating func siftUp(_ start: Int) {
        var index = start
        while index > 0, isBefore(index, (index - 1) / 2) {
            exchange(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private mutating func siftDown(_ start: Int) {
        var index = start
        while true {
            var smallest = index
            for child in [2 * index + 1, 2 * index + 2] where child < entries.count && isBefore(child, smallest) {
                smallest = child
            }
            if smallest == index { return }
            exchange(index, smallest)
            index = smallest
        }
    }
}
