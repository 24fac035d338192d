// feedbus: an end for jq programs that have none.

import FeedbusBase
import Synchronization

/// Stops a program that works on one input for too long, such as `def f: f; f`.
///
/// The program says when it begins and ends an input; whoever has a clock calls `look` from time to
/// time. An input is stopped when two looks see the same one, and everything when it is given up.
public final class JQWatch: Sendable {
    private struct State {
        /// Counts beginnings and ends: odd inside an input.
        var number = 0
        var seen = 0
        var halted = 0
        var isGivenUp = false
    }

    private let state = Mutex(State())
    /// Makes the program return soon.
    private let halt: @Sendable () -> Void

    init(halt: @escaping @Sendable () -> Void) { self.halt = halt }

    /// Called when the machine has its input: from then on a halt is not lost.
    /// - Returns: false where nothing is to be begun any more; `end` is to be called all the same.
    func begin() -> Bool {
        state.withLock { state in
            state.number += 1
            return !state.isGivenUp
        }
    }

    func end() { state.withLock { $0.number += 1 } }

    public var isGivenUp: Bool { state.withLock(\.isGivenUp) }

    /// Halts the program, and lets it begin nothing more.
    public func giveUp() {
        state.withLock { state in
            state.isGivenUp = true
            guard !state.number.isMultiple(of: 2), state.halted != state.number else { return }
            halt()
            state.halted = state.number
        }
    }

    /// Halts the program where it still works on what it worked on at the last look.
    public func look() {
        state.withLock { state in
            guard !state.number.isMultiple(of: 2) else { return }
            if state.seen == state.number, state.halted != state.number {
                halt()
                state.halted = state.number
            }
            state.seen = state.number
        }
    }
}
