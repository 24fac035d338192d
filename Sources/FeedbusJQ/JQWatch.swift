// feedbus: an end for jq programs that have none.

import FeedbusBase
import Synchronization

/// Stops a program that works on one input for too long, such as `def f: f; f`.
///
/// The thread that runs the program says when it begins and ends an input; whoever has a clock calls `look` from time to
/// time. An input is stopped when two looks see the same one.
public final class JQWatch: Sendable {
    private struct State {
        /// Counts beginnings and ends: odd inside an input.
        var number = 0
        var seen = 0
        var halted = 0
    }

    private let state = Mutex(State())
    private let program: JQProgram

    public init(_ program: JQProgram) { self.program = program }

    public func begin() { state.withLock { $0.number += 1 } }
    public func end() { state.withLock { $0.number += 1 } }

    /// Halts the program where it still works on what it worked on at the last look.
    public func look() {
        state.withLock { state in
            guard !state.number.isMultiple(of: 2) else { return }
            if state.seen == state.number, state.halted != state.number {
                program.halt()
                state.halted = state.number
            }
            state.seen = state.number
        }
    }
}
