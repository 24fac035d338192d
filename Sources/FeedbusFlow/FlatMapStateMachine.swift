// feedbus: what flatMap does, as a value: which element's flow starts when, and who waits.

/// The state of one `flatMap`: elements that wait for a flow of their own, and how many flows run.
@usableFromInline
struct FlatMapStateMachine<Element: Sendable>: Sendable {
    @usableFromInline typealias Outer = UnsafeContinuation<Void, any Error>
    @usableFromInline typealias Starter = UnsafeContinuation<Element?, any Error>

    /// What to do once the lock is released.
    @usableFromInline
    struct Actions: Sendable {
        @usableFromInline var outer: Outer?
        @usableFromInline var outerError: (any Error)?
        @usableFromInline var starter: Starter?
        @usableFromInline var starterResult: Result<Element?, any Error> = .success(nil)

        @inlinable
        init() {}
    }

    @usableFromInline let limit: Int
    @usableFromInline let buffer: Int
    @usableFromInline var pending = Ring<Element>()
    @usableFromInline var active = 0
    @usableFromInline var isOuterDone = false
    @usableFromInline var failure: (any Error)?
    /// The upstream, held until flows have started or the queue has room.
    @usableFromInline var outer: Outer?
    /// The task that starts flows, waiting for an element and for a free place.
    @usableFromInline var starter: Starter?

    @inlinable
    init(limit: Int, buffer: Int) {
        self.limit = limit
        self.buffer = buffer
    }

    @usableFromInline
    enum Offer: Sendable {
        case taken
        /// Flows are to be started first, or the queue is full: the upstream is held until then.
        case wait
        case refused
    }

    /// The upstream may go on: every flow that can start has started, and what is left has room in the queue.
    @inlinable var isReady: Bool { starter != nil && pending.count <= buffer }

    @inlinable
    mutating func offer(_ chunk: Chunk<Element>, _ actions: inout Actions) -> Offer {
        if failure != nil { return .refused }
        for element in chunk { pending.append(element) }
        start(&actions)
        return isReady ? .taken : .wait
    }

    @inlinable
    mutating func wait(outer continuation: Outer, isCancelled: Bool, _ actions: inout Actions) {
        if isCancelled || failure != nil {
            actions.outer = continuation
            actions.outerError = CancellationError()
        } else if isReady {
            actions.outer = continuation
        } else {
            outer = continuation
        }
    }

    @inlinable
    mutating func wait(starter continuation: Starter, isCancelled: Bool, _ actions: inout Actions) {
        starter = continuation
        if isCancelled { failure = failure ?? CancellationError() }
        start(&actions)
    }

    @inlinable
    mutating func finishOuter(_ actions: inout Actions) {
        isOuterDone = true
        start(&actions)
    }

    @inlinable
    mutating func finishInner(_ actions: inout Actions) {
        active -= 1
        start(&actions)
    }

    @inlinable
    mutating func fail(_ error: any Error, _ actions: inout Actions) {
        failure = failure ?? error
        _ = pending.removeAll()
        start(&actions)
        actions.outer = outer.take()
        actions.outerError = CancellationError()
    }

    /// Gives the waiting starter the next element if a flow may start; if none may, lets the upstream go on if there is room.
    @inlinable
    mutating func start(_ actions: inout Actions) {
        guard starter != nil else { return }
        if let failure {
            actions.starter = starter.take()
            actions.starterResult = .failure(failure)
        } else if active < limit, let element = pending.popFirst() {
            active += 1
            actions.starter = starter.take()
            actions.starterResult = .success(element)
        } else if isOuterDone, pending.isEmpty {
            actions.starter = starter.take()
        } else if isReady {
            actions.outer = outer.take()
        }
    }
}
