// feedbus: in which order a source's cursors may be saved.

import FeedbusPlugin

/// Emissions of one source settle in any order; their cursors may be saved only in the order of emission, each when it
/// and all before it are settled. An emission that was not delivered holds back every later cursor for good: the next
/// start begins there again.
struct CursorLedgerStateMachine: ~Copyable {
    private struct Emission {
        var cursors: [CursorUpdate]
        var outcome: Outcome?
        /// The event's number in a durable log; 0 where there is none.
        var place: Int64
    }

    /// Open emissions; those before `head` are done and wait to be removed together.
    private var open: [Emission] = []
    private var head = 0
    /// The number of `open[0]`.
    private var first = 0
    /// True after an undelivered emission: nothing will be saved any more.
    private(set) var isHeldBack = false
    /// The places of what was left undelivered, runs of them in the order in which they were left.
    private var left: [Range<Int64>] = []

    /// Emissions that have not settled, and those that wait behind one.
    var openCount: Int { open.count - head }

    /// Emissions that have not settled.
    var unsettledCount: Int { open[head...].count { $0.outcome == nil } }

    /// Emissions with a place before another that were left undelivered, or have not settled.
    func undelivered(before place: Int64) -> Int {
        left.reduce(0) { $0 + Int(max(0, min($1.upperBound, place) - $1.lowerBound)) }
            + open[head...].count { $0.outcome == nil && $0.place > 0 && $0.place < place }
    }

    /// A new emission; returns its number.
    /// - Parameter place: the event's number in a durable log, 1...; 0 where there is none.
    mutating func emitted(_ cursors: [CursorUpdate], place: Int64 = 0) -> Int {
        open.append(Emission(cursors: isHeldBack ? [] : cursors, place: place))
        return first + open.count - 1
    }

    /// Emission `number` has settled; returns what may be saved now, in order.
    mutating func settled(_ number: Int, _ outcome: Outcome) -> [CursorUpdate] {
        precondition(number >= first + head && number - first < open.count, "an emission settled twice")
        open[number - first].outcome = outcome
        let place = open[number - first].place
        if !outcome.isSettled, place > 0 {
            if let last = left.indices.last, left[last].upperBound == place {
                left[last] = left[last].lowerBound..<place + 1
            } else {
                left.append(place..<place + 1)
            }
        }
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
