// feedbus: elements of several flows side by side.

extension Flow {
    /// The n-th elements of all flows together.
    ///
    /// ```
    /// a      1--2--------3--|
    /// b      ---x-----y-----|
    /// zip    ---1x----2y----|
    /// ```
    /// Completes as soon as a completed flow has nothing queued (as rxjs, RxJava, Combine), and then stops the others; the
    /// first error drops what is queued and comes out at once. Without flows it completes at once.
    /// Back-pressure: while the consumer works, each flow is held at the chunk that it emits next; a flow that is more than
    /// `buffer` elements ahead of the slowest is held until it is only half as far ahead. So two views of one subject or
    /// `share` may be apart by half of `buffer` and the capacity of an edge (64 + 256): `s.zip(s.skip(380))` stands still,
    /// for the view that is held holds up the other one too. Set `buffer` to twice what you skip.
    @inlinable
    public static func zip(_ flows: [Flow], buffer: Int = 128) -> Flow<[Element]> {
        Flow<[Element]> { emit in
            let run = ZipRun(Zipper<Element>(flows.count), buffer: buffer, gate: SerialGate(on: #isolation), emit)
            try await runBranches(
                flows.enumerated().map { index, flow in
                    { try await run.collect(flow, at: index) { $0.rows(with: $1, at: index) } }
                }, gate: run.gate)
        }
    }

    /// The n-th elements of this flow and another together. See `zip(_:buffer:)`.
    @inlinable
    public func zip<Other: Sendable>(_ other: Flow<Other>, buffer: Int = 128) -> Flow<(Element, Other)> {
        Flow<(Element, Other)> { emit in
            let run = ZipRun(PairZipper<Element, Other>(), buffer: buffer, gate: SerialGate(on: #isolation), emit)
            try await runBranches(
                [
                    { try await run.collect(self, at: 0) { $0.pairs(withLeft: $1) } },
                    { try await run.collect(other, at: 1) { $0.pairs(withRight: $1) } },
                ], gate: run.gate)
        }
    }
}

/// What zip needs to know of its queues.
@usableFromInline
protocol ZipQueues: Sendable {
    associatedtype Row: Sendable
    /// One a flow.
    var sides: [ZipSide] { get set }
    /// Elements of one flow that wait for partners.
    func count(at index: Int) -> Int
}

extension ZipQueues {
    /// A flow has completed and has nothing queued.
    @inlinable var hasEnded: Bool { sides.indices.contains { sides[$0].isCompleted && count(at: $0) == 0 } }
}

/// One flow of a zip.
@usableFromInline
struct ZipSide: Sendable {
    @usableFromInline var isCompleted = false
    /// It waits for room in its queue.
    @usableFromInline var isHeld = false
    @usableFromInline let signal = Signal()

    @inlinable
    init() {}
}

/// One collection of a zip.
@usableFromInline
struct ZipRun<Queues: ZipQueues>: Sendable {
    @usableFromInline let gate: SerialGate
    @usableFromInline let queues: Local<Queues>
    /// Flows that have completed, and flows that are held: mostly none, and then there is nothing to look through.
    @usableFromInline let completed = Local(0)
    @usableFromInline let held = Local(0)
    @usableFromInline let buffer: Int
    @usableFromInline let emit: @Sendable (Chunk<Queues.Row>) async throws -> Void

    @inlinable
    init(
        _ queues: Queues, buffer: Int, gate: SerialGate,
        _ emit: @escaping @Sendable (Chunk<Queues.Row>) async throws -> Void
    ) {
        self.gate = gate
        self.queues = Local(queues)
        self.buffer = buffer
        self.emit = emit
    }

    /// No row can come any more: a completed flow has nothing queued.
    @inlinable
    var isDone: Bool { completed.value > 0 && queues.value.hasEnded }

    /// The branch of one flow.
    /// - Parameter take: puts a chunk into its queue and takes out the rows that are full then.
    @inlinable @inline(__always)
    func collect<Element: Sendable>(
        _ flow: Flow<Element>, at index: Int,
        _ take: @escaping @Sendable (inout Queues, Chunk<Element>) -> Chunk<Queues.Row>
    ) async throws -> BranchEnd {
        let abort = FlowAbort()
        do {
            try await flow.collect { chunk in
                if try !gate.tryEnter() { try await gate.waitToEnter() }
                if isDone {
                    gate.leave()
                    throw abort
                }
                let rows = take(&queues.value, chunk)
                if !rows.isEmpty {
                    do { try await emit(rows) } catch { throw gate.closing(error) }
                    release()
                    if isDone {
                        gate.leave()
                        throw abort
                    }
                }
                if queues.value.count(at: index) > buffer {
                    queues.value.sides[index].isHeld = true
                    held.value += 1
                    let signal = queues.value.sides[index].signal
                    gate.leave()
                    return try await signal.wait()
                }
                gate.leave()
            }
        } catch let error as FlowAbort where error === abort {
            return .complete
        }
        if try !gate.tryEnter() { try await gate.waitToEnter() }
        queues.value.sides[index].isCompleted = true
        completed.value += 1
        let isComplete = isDone
        gate.leave()
        return isComplete ? .complete : .goOn
    }

    /// Lets held flows go on. Half of the buffer must be free, so that not every element costs a hand-off.
    @inlinable
    func release() {
        if held.value == 0 { return }
        for index in queues.value.sides.indices
        where queues.value.sides[index].isHeld && queues.value.count(at: index) <= buffer / 2 {
            queues.value.sides[index].isHeld = false
            held.value -= 1
            queues.value.sides[index].signal.signal()
        }
    }
}
