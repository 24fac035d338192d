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

    private var open: [Emission] = []
    /// The number of the first open emission.
    private var first = 0
    /// True after an undelivered emission: nothing will be saved any more.
    private(set) var isHeldBack = false

    var openCount: Int { open.count }

    /// A new emission; returns its number.
    mutating func emitted(_ cursors: [CursorUpdate]) -> Int {
        open.append(Emission(cursors: isHeldBack ? [] : cursors))
        return first + open.count - 1
    }

    /// Emission `number` has settled; returns what may be saved now, in order.
    mutating func settled(_ number: Int, _ outcome: Outcome) -> [CursorUpdate] {
        precondition(number >= first && number - first < open.count, "an emission settled twice")
        open[number - first].outcome = outcome
        var ready: [CursorUpdate] = []
        var done = 0
        while done < open.count, let outcome = open[done].outcome {
            if outcome.isSettled && !isHeldBack { ready += open[done].cursors } else { isHeldBack = true }
            done += 1
        }
        open.removeFirst(done)
        first += done
        return ready
    }
}
