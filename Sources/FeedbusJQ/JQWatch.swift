// feedbus: an end for jq programs that have none.

import FeedbusBase
import Synchronization

/// Stops a program that works on one input for too long, such as `def f: f; f`.
///
/// The program says when it begins and ends a batch of inputs; whoever has a clock calls `look` from time to time. An input
/// is stopped when two looks see the same one, and everything when it is given up.
public final class JQWatch: Sendable {
    private struct State {
        var isRunning = false
        /// What the last look saw of this batch.
        var seen: UInt64?
        var isStopped = false
        var isGivenUp = false
    }

    private let state = Mutex(State())
    /// Grows with each input that is begun.
    private let progress: @Sendable () -> UInt64
    /// Ends the process.
    private let stop: @Sendable () -> Void

    init(progress: @escaping @Sendable () -> UInt64, stop: @escaping @Sendable () -> Void) {
        self.progress = progress
        self.stop = stop
    }

    /// - Returns: false where nothing is to be begun any more; `end` is to be called all the same.
    func begin() -> Bool {
        state.withLock { state in
            state.isRunning = true
            state.seen = nil
            state.isStopped = false
            return !state.isGivenUp
        }
    }

    /// - Returns: whether the batch was stopped.
    func end() -> Bool {
        state.withLock { state in
            state.isRunning = false
            return state.isStopped
        }
    }

    public var isGivenUp: Bool { state.withLock(\.isGivenUp) }

    /// Stops the program, and lets it begin nothing more.
    public func giveUp() {
        state.withLock { state in
            state.isGivenUp = true
            stopOnce(&state)
        }
    }

    /// Stops the program where it still works on what it worked on at the last look.
    public func look() {
        state.withLock { state in
            guard state.isRunning else { return }
            let now = progress()
            if state.seen == now { stopOnce(&state) }
            state.seen = now
        }
    }

    private func stopOnce(_ state: inout State) {
        guard state.isRunning, !state.isStopped else { return }
        state.isStopped = true
        stop()
    }
}
