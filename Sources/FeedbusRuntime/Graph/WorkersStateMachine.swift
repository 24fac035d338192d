// feedbus: which of several instances takes the next chunk, and what goes on in which order.

/// Chunks are numbered in the order in which they are taken, and what comes of them goes on in that order.
///
/// An instance that is ready before its turn leaves what it has made and takes the next chunk. That is bounded: of each
/// instance, one chunk in hand and two that are finished; and nothing is taken while what is finished and waits weighs
/// too much. So chunks that take longer than others hold nobody up, and memory stays bounded.
struct WorkersStateMachine<Finished: Sendable>: ~Copyable {
    /// Told whether it is to take the next chunk; false: nothing more is to be taken.
    typealias Worker = UnsafeContinuation<Bool, Never>
    /// Told that it may be its turn.
    typealias Writer = UnsafeContinuation<Void, Never>

    /// Whom to resume once the lock is released.
    struct Actions {
        var admitted: Worker?
        var refused: [Worker] = []
        var writer: Writer?

        func run() {
            admitted?.resume(returning: true)
            for worker in refused { worker.resume(returning: false) }
            writer?.resume()
        }
    }

    enum Turn {
        case finished(Finished)
        case end
        /// What comes next is not finished: wait.
        case wait
    }

    /// What became of something finished.
    enum Taken {
        case yes
        /// The stage had come to its own end before it: nothing is owed for it.
        case letGo
        /// Nothing can be delivered any more.
        case undelivered
    }

    private struct Entry {
        /// Nil: the instance failed, and the others go their way.
        var finished: Finished?
        var weight: Int
    }

    private enum Phase {
        /// Next: over, complete, givenUp.
        case open
        /// No more is taken; what was taken goes on. Next: complete, givenUp.
        case over
        /// The stage has come to its own end. Last.
        case complete
        /// The readers take no more. Last.
        case givenUp
    }

    /// Finished chunks that may wait for their turn, for each instance.
    static var ahead: Int { 2 }

    /// The most chunks that are taken and not yet handed on.
    private let most: Int
    private let weightLimit: Int
    private var phase = Phase.open
    /// An instance is taking a chunk.
    private var isReading = false
    /// The number of the next chunk that is taken, and of the one whose turn it is.
    private var taken = 0
    private var turn = 0
    private var finished: [Int: Entry] = [:]
    /// Of all that is finished and not yet handed on.
    private var weight = 0
    private var turnWeight = 0
    private var workers: [Worker] = []
    private var writer: Writer?

    /// - Parameter weightLimit: see `Event.weight`, 1...
    init(workers: Int, weightLimit: Int) {
        most = workers * (1 + Self.ahead)
        self.weightLimit = weightLimit
    }

    // MARK: - Taking

    /// An instance wants a chunk.
    mutating func ask(_ worker: Worker) -> Actions {
        var actions = Actions()
        workers.append(worker)
        admit(&actions)
        return actions
    }

    /// The instance that was admitted has a chunk.
    /// - Returns: its number.
    mutating func took(_ actions: inout Actions) -> Int {
        isReading = false
        taken += 1
        admit(&actions)
        return taken - 1
    }

    /// The instance that was admitted has found nothing.
    mutating func tookNothing() -> Actions {
        isReading = false
        return endReading()
    }

    /// Nothing more is to be taken. An instance that is just doing it may still come with a chunk.
    mutating func endReading() -> Actions {
        if case .open = phase { phase = .over }
        var actions = Actions()
        admit(&actions)
        wakeWriter(&actions)
        return actions
    }

    private mutating func admit(_ actions: inout Actions) {
        guard case .open = phase else {
            actions.refused = workers
            workers = []
            return
        }
        guard !isReading, !workers.isEmpty, taken - turn < most, weight < weightLimit else { return }
        isReading = true
        actions.admitted = workers.removeFirst()
    }

    // MARK: - Handing on

    /// An instance has finished a chunk; nil where it failed.
    mutating func finish(_ number: Int, _ result: Finished?, weight: Int, _ actions: inout Actions) -> Taken {
        switch phase {
        case .open, .over: break
        case .complete: return .letGo
        case .givenUp: return .undelivered
        }
        finished[number] = Entry(finished: result, weight: weight)
        self.weight += weight
        if number == turn { wakeWriter(&actions) }
        return .yes
    }

    /// Whose turn it is. `handedOn` follows what is finished.
    mutating func next(_ actions: inout Actions) -> Turn {
        while let entry = finished.removeValue(forKey: turn) {
            turnWeight = entry.weight
            if let result = entry.finished { return .finished(result) }
            handedOn(&actions)
        }
        guard case .open = phase else { return isReading || turn < taken ? .wait : .end }
        return .wait
    }

    /// Waits for a change.
    mutating func wait(_ writer: Writer) -> Actions {
        var actions = Actions()
        self.writer = writer
        // What it waits for may have come since it asked.
        let isEnd = if case .open = phase { false } else { !isReading && turn == taken }
        if isEnd || finished[turn] != nil { wakeWriter(&actions) }
        return actions
    }

    /// What was in its turn has gone on.
    mutating func handedOn(_ actions: inout Actions) {
        turn += 1
        weight -= turnWeight
        turnWeight = 0
        admit(&actions)
    }

    private mutating func wakeWriter(_ actions: inout Actions) { actions.writer = writer.take() }

    /// Nothing more goes on.
    /// - Parameter isComplete: the stage has come to its own end; else nothing can be delivered any more.
    /// - Returns: what was finished and waits.
    mutating func close(isComplete: Bool, _ actions: inout Actions) -> [Finished] {
        phase = isComplete ? .complete : .givenUp
        admit(&actions)
        let left = finished.sorted { $0.key < $1.key }.compactMap(\.value.finished)
        finished = [:]
        return left
    }
}
