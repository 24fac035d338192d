// feedbus: lets tasks go one after the other, each in its place.

import Synchronization

/// Numbered turns, from 0 on. Each is taken once, by whoever waits for it, and passed on to the next.
final class Turns: Sendable {
    enum Turn: Sendable {
        case mine
        /// Nobody's turn comes any more.
        case over
    }

    private struct State {
        /// Whose turn it is.
        var number = 0
        var isOver = false
        var waiters: [Int: UnsafeContinuation<Turn, Never>] = [:]
    }

    private let state = Mutex(State())

    func wait(for number: Int) async -> Turn {
        await withUnsafeContinuation { continuation in
            let turn: Turn? = state.withLock { state in
                if state.isOver { return .over }
                if state.number == number { return .mine }
                state.waiters[number] = continuation
                return nil
            }
            if let turn { continuation.resume(returning: turn) }
        }
    }

    /// The turn of `number` is over; the next one comes.
    func pass(_ number: Int) {
        let next = state.withLock { state in
            state.number = number + 1
            return state.isOver ? nil : state.waiters.removeValue(forKey: number + 1)
        }
        next?.resume(returning: .mine)
    }

    /// No more turns.
    func end() {
        let waiters = state.withLock { state in
            state.isOver = true
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume(returning: .over) }
    }
}
