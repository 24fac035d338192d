// feedbus: what happened to the events of one node. Nothing is dropped without a number here.

import Synchronization

/// Counts of one node. Written from the node's loop, read from anywhere.
package final class NodeCounters: Sendable {
    /// Events that the node emitted (source, stage) or has put where it promised (sink).
    package let delivered = Atomic<Int>(0)
    /// Events that the overflow policy of its buffer dropped.
    package let dropped = Atomic<Int>(0)
    /// Events that the plugin could not treat and gave up one by one.
    package let refused = Atomic<Int>(0)
    /// Events that no route of it took.
    package let unmatched = Atomic<Int>(0)
    /// Events that it could not treat, and texts that are none, that were set aside in this run and are still there.
    package let deadLettered = Atomic<Int>(0)
    /// The texts among them.
    package let deadTexts = Atomic<Int>(0)
    /// Dead letters that the policy of a full store dropped: its own of this run, and those of earlier runs that its own
    /// pushed out.
    package let lettersDropped = Atomic<Int>(0)
    /// Events that it had not finished when it failed or when the program had to end; they come again at the next start.
    package let undelivered = Atomic<Int>(0)
    /// Times that it was started again.
    package let restarts = Atomic<Int>(0)

    package init() {}
}

extension Atomic where Value == Int {
    package borrowing func add(_ count: Int) { wrappingAdd(count, ordering: .relaxed) }
    package borrowing func get() -> Int { load(ordering: .relaxed) }
}
