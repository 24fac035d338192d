// feedbus: what other threads send to a loop.

internal import CLibuv
internal import Synchronization

/// The handle that wakes a loop.
///
/// `@unchecked Sendable`: `uv_async_send` is the one call of libuv that any thread may make; nothing else is done with
/// the handle through this type.
struct Bell: @unchecked Sendable {
    let handle: UnsafeMutablePointer<uv_async_t>
}

/// The part of a loop that any thread may touch: work for it, and the bell that wakes it.
final class LoopInbox: Sendable {
    private struct State {
        var items: [LoopWork] = []
        /// The bell has been rung and the loop has not come for the items yet.
        var wakePending = false
        /// Nil once the loop has closed: nothing is taken any more.
        var bell: Bell?
        var wakes = 0
        var jobs = 0
    }

    private let state: Mutex<State>

    init(bell: Bell) { state = Mutex(State(bell: bell)) }

    /// False where the loop has closed.
    func add(_ work: LoopWork) -> Bool {
        state.withLock { state in
            guard let bell = state.bell else { return false }
            state.items.append(work)
            if case .job = work { state.jobs += 1 }
            if !state.wakePending {
                state.wakePending = true
                state.wakes += 1
                // Inside the lock, so that the bell cannot be closed meanwhile. Only the first of a burst pays for it.
                uv_async_send(bell.handle)
            }
            return true
        }
    }

    /// Moves everything to `queue`. `spare` lends its memory for the next burst.
    func take(into queue: inout WorkQueue, spare: inout [LoopWork]) {
        let isEmpty = state.withLock { state in
            state.wakePending = false
            guard !state.items.isEmpty else { return true }
            swap(&state.items, &spare)
            return false
        }
        guard !isEmpty else { return }
        for item in spare { queue.append(item) }
        spare.removeAll(keepingCapacity: spare.count <= 4_096)
    }

    /// Takes nothing more from now on. False, and still open, when something has come meanwhile.
    func close(evenWithWork: Bool = false) -> Bool {
        state.withLock { state in
            guard state.items.isEmpty || evenWithWork else { return false }
            state.items = []
            state.bell = nil
            return true
        }
    }

    var hasClosed: Bool { state.withLock { $0.bell == nil } }
    /// How often the bell was rung.
    var wakes: Int { state.withLock { $0.wakes } }
    /// How many jobs came this way.
    var jobs: Int { state.withLock { $0.jobs } }
}
