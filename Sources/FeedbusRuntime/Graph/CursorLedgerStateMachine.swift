// feedbus: in which order a source's cursors may be saved.

import FeedbusPlugin

/// Emissions of one source settle in any order; their cursors may be saved only in the order of emission, each when it
/// and all before it are settled. An emission that was not delivered holds back every later cursor for good: the next
/// start begins there again.
struct CursorLedgerStateMachine: ~Copyable {
    private struct Emission {
        var cursors: [CursorUpdate]
        var outcome: Outcome?
    }

    /// Open emissions; those before `head` are done and wait to be removed together.
    private var open: [Emission] = []
    private var head = 0
    /// The number of `open[0]`.
    private var first = 0
    /// True after an undelivered emission: nothing will be saved any more.
    private(set) var isHeldBack = false

    /// Emissions that have not settled, and those that wait behind one.
    var openCount: Int { open.count - head }

    /// Emissions that have not settled.
    var unsettledCount: Int { open[head...].count { $0.outcome == nil } }

    /// A new emission; returns its number.
    mutating func emitted(_ cursors: [CursorUpdate]) -> Int {
        open.append(Emission(cursors: isHeldBack ? [] : cursors))
        return first + open.count - 1
    }

    /// Emission `number` has settled; returns what may be saved now, in order.
    mutating func settled(_ number: Int, _ outcome: Outcome) -> [CursorUpdate] {
        precondition(number >= first + head && number - first < open.count, "an emission settled twice")
        open[number - first].outcome = outcome
        var ready: [CursorUpdate] = []
        while head < open.count, let outcome = open[head].outcome {
            if outcome.isSettled && !isHeldBack { ready += open[head].cursors } else { isHeldBack = true }
            head += 1
        }
        // Not one by one: many may be open, and each removal moves all that stand behind.
        if head == open.count || head >= 64 && head * 2 >= open.count {
            open.removeFirst(head)
            first += head
            head = 0
        }
        return ready
    }
}
