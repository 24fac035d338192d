// feedbus: which parts of a flow still need it.

import Synchronization

/// The open parts of one collection of `window` or `groupBy`, and which of them somebody collects.
///
/// A consumer that wants no more parts (`take`) may still work on those that it has: the operator goes on for them, as Rx
/// does by counting references. A part that nobody collects does not count: who holds it may wait for the very end of the
/// outer collection (`first`), and would never come to it.
final class PartLedger: Sendable {
    private struct State {
        /// By edge; true where somebody collects it.
        var parts: [ObjectIdentifier: Bool] = [:]
        var collected = 0
        var isOver = false
        var isAbandoned = false
    }

    private let state = Mutex(State())
    private let changed = Signal()

    /// The consumer wants no more parts.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// And nobody collects one that it had.
    var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

    func open(_ edge: AnyObject) { state.withLock { $0.parts[ObjectIdentifier(edge)] = false } }

    func collect(_ edge: AnyObject) {
        state.withLock { state in
            guard state.parts[ObjectIdentifier(edge)] == false else { return }
            state.parts[ObjectIdentifier(edge)] = true
            state.collected += 1
        }
    }

    /// The collection of a part has ended, or nobody holds it any more. Without effect when it is said again.
    func close(_ edge: AnyObject) {
        let isLast = state.withLock { state in
            guard state.parts.removeValue(forKey: ObjectIdentifier(edge)) == true else { return false }
            state.collected -= 1
            return state.collected == 0
        }
        if isLast { changed.signal() }
    }

    /// All parts are complete: they need their flow no more.
    func closeAll() {
        state.withLock { state in
            state.parts = [:]
            state.collected = 0
        }
        changed.signal()
    }

    /// For the branch of an operator whose consumer wants no more parts.
    /// - Returns: when no part is collected any more.
    /// - Throws: `CancellationError`.
    func outliveConsumer() async throws {
        state.withLock { $0.isOver = true }
        while true {
            // One that was handed on, or waits for the end of another, takes a few turns to be taken up.
            for _ in 0..<8 where state.withLock({ $0.collected == 0 && !$0.parts.isEmpty }) { await Task.yield() }
            let isAbandoned = state.withLock { state in
                state.isAbandoned = state.collected == 0
                return state.isAbandoned
            }
            if isAbandoned { return }
            try await changed.wait()
        }
    }

    /// For the branch that runs the producer, after each chunk; lets the other one have a look, where there is nobody.
    /// - Returns: false when the producer is to stop.
    func needsMore() async -> Bool {
        if state.withLock({ !$0.isOver || $0.collected > 0 }) { return true }
        await Task.yield()
        return !isAbandoned
    }
}
