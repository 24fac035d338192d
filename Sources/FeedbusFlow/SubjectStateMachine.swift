// feedbus: what a subject does, as a value: who gets which chunk, in which order, and when it forgets.

/// The state of a subject.
///
/// One emission at a time: it puts its chunk into the replay buffer and takes the set of subscribers in one step, so a
/// subscriber that joins gets that chunk by replay (joined later) or by the emission (joined before), never by both.
/// Emissions that come meanwhile, also from inside a subscriber's handler, queue.
@usableFromInline
struct SubjectStateMachine<Element: Sendable>: ~Copyable, Sendable {
    @usableFromInline
    struct Subscriber: Sendable {
        @usableFromInline let id: UInt64
        @usableFromInline let edge: Edge<Element>

        @inlinable
        init(id: UInt64, edge: Edge<Element>) {
            self.id = id
            self.edge = edge
        }
    }

    @usableFromInline
    enum Ending: Sendable {
        case finished
        case failed(any Error)
    }

    /// What it keeps and hands out beside the replay of its scope.
    @usableFromInline
    enum Form: Sendable {
        case plain
        /// One element is kept until the end, and not after it.
        case current
        /// Only the last element counts, at the end.
        case last
    }

    /// Something that waits for its turn.
    @usableFromInline
    enum Turn: Sendable {
        case send(UInt64, UnsafeContinuation<Void, any Error>?)
        case end(Ending)
    }

    @usableFromInline
    enum Begin: Sendable {
        case deliver([Subscriber])
        /// Another emission is under way: wait, under this number.
        case wait(UInt64)
        case ended
    }

    /// What to do once the lock is released.
    @usableFromInline
    enum Action: Sendable {
        case none
        case resume(UnsafeContinuation<Void, any Error>)
        case cancel(UnsafeContinuation<Void, any Error>)
        case end([Subscriber], Ending, last: Chunk<Element>)
    }

    @usableFromInline let form: Form
    @usableFromInline let scope: SubjectScope
    @usableFromInline var replay: ReplayBuffer<Element>
    @usableFromInline var subscribers: [Subscriber] = []
    /// An emission is under way, or its turn was given to a sender that is about to run.
    @usableFromInline var isBusy = false
    @usableFromInline var turns = Ring<Turn>()
    /// The terminal event was asked for: no more sends.
    @usableFromInline var isClosing = false
    /// The terminal event was handed out.
    @usableFromInline var ending: Ending?
    /// Turns that came between getting a place in the queue and waiting at it.
    @usableFromInline var earlyTurns: [UInt64] = []
    @usableFromInline var lastID: UInt64 = 0

    @inlinable
    init(replay: ReplayBuffer<Element>, scope: SubjectScope, form: Form = .plain) {
        self.replay = replay
        self.scope = scope
        self.form = form
    }

    // MARK: - Sending

    /// - Parameter kept: what late subscribers are to get of the chunk.
    @inlinable
    mutating func send(_ kept: Chunk<Element>) -> Begin {
        if isClosing { return .ended }
        if isBusy {
            lastID += 1
            turns.append(.send(lastID, nil))
            return .wait(lastID)
        }
        isBusy = true
        return .deliver(begin(kept))
    }

    /// The emission whose turn it is starts.
    @inlinable
    mutating func begin(_ kept: Chunk<Element>) -> [Subscriber] {
        if scope == .forever || !subscribers.isEmpty { replay.append(kept) }
        return form == .last ? [] : subscribers
    }

    /// A chunk for all or for nobody: begins when no emission is under way and each subscriber has room for all of it.
    @inlinable
    mutating func sendIfRoom(_ chunk: Chunk<Element>, kept: Chunk<Element>) -> Begin? {
        if isClosing { return .ended }
        guard !isBusy, subscribers.allSatisfy({ $0.edge.room(for: chunk) >= chunk.count }) else { return nil }
        isBusy = true
        return .deliver(begin(kept))
    }

    @inlinable
    mutating func wait(_ id: UInt64, _ continuation: UnsafeContinuation<Void, any Error>) -> Action {
        if let index = earlyTurns.firstIndex(of: id) {
            earlyTurns.remove(at: index)
            return .resume(continuation)
        }
        for offset in 0..<turns.count {
            if case .send(id, _) = turns[offset] { turns[offset] = .send(id, continuation) }
        }
        return .none
    }

    /// One that has not yet begun to wait keeps its place: it will see for itself that it is cancelled.
    @inlinable
    mutating func cancelWait(_ id: UInt64) -> Action {
        let turn = turns.remove { if case .send(id, .some) = $0 { true } else { false } }
        guard case .send(_, let continuation?) = turn else { return .none }
        return .cancel(continuation)
    }

    /// The emission has been taken by all: the next one's turn.
    @inlinable
    mutating func endTurn() -> Action {
        switch turns.popFirst() {
        case nil:
            isBusy = false
            return .none
        case .send(_, let continuation?): return .resume(continuation)
        case .send(let id, nil):
            earlyTurns.append(id)
            return .none
        case .end(let ending):
            isBusy = false
            return end(ending)
        }
    }

    // MARK: - The end

    @inlinable
    mutating func close(_ ending: Ending) -> Action {
        if isClosing { return .none }
        isClosing = true
        if isBusy {
            turns.append(.end(ending))
            return .none
        }
        return end(ending)
    }

    /// State is reset before the terminal event is handed out, so that who comes back in answer to it starts anew.
    @inlinable
    mutating func end(_ ending: Ending) -> Action {
        let told = subscribers
        subscribers = []
        self.ending = ending
        var last = Chunk<Element>()
        switch (form, ending) {
        case (.plain, _): if scope == .whileConnected { replay.removeAll() }
        case (.last, .finished): last = replay.chunk
        case (.current, _), (.last, .failed): replay.removeAll()
        }
        return .end(told, ending, last: last)
    }

    // MARK: - Subscribers

    /// The replayed part enters the edge here, under the subject's lock: so no emission can come before it.
    @inlinable
    mutating func join(_ edge: Edge<Element>, _ actions: inout EdgeStateMachine<Element>.Actions) -> UInt64 {
        if replay.age != nil { replay.forget() }
        if form != .last || ending != nil { edge.preload(replay.chunk, &actions) }
        lastID += 1
        if ending == nil { subscribers.append(Subscriber(id: lastID, edge: edge)) }
        return lastID
    }

    @inlinable
    mutating func leave(_ id: UInt64) {
        guard let index = subscribers.firstIndex(where: { $0.id == id }) else { return }
        subscribers.remove(at: index)
        if subscribers.isEmpty && scope == .whileConnected { replay.removeAll() }
    }
}
