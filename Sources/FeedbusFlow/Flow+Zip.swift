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
    /// `buffer` elements ahead of the slowest is held until it is only half as far ahead.
    @inlinable
    public static func zip(_ flows: [Flow], buffer: Int = 128) -> Flow<[Element]> {
        Flow<[Element]> { emit in
            let columns = flows.count
            let run = ZipRun<Element>(columns, buffer: buffer) { rows in
                try await emit(Chunk((0..<rows[0].count).map { row in (0..<columns).map { rows[$0][row] } }))
            }
            try await runBranches(flows.enumerated().map { run.branch($1, at: $0) }, gate: run.gate)
        }
    }

    /// The n-th elements of this flow and another together. See `zip(_:buffer:)`.
    @inlinable
    public func zip<Other: Sendable>(_ other: Flow<Other>, buffer: Int = 128) -> Flow<(Element, Other)> {
        Flow<(Element, Other)> { emit in
            let run = ZipRun<ZipSide<Element, Other>>(2, buffer: buffer) { rows in
                var pairs: [(Element, Other)] = []
                pairs.reserveCapacity(rows[0].count)
                for row in 0..<rows[0].count {
                    guard case .left(let left) = rows[0][row], case .right(let right) = rows[1][row] else {
                        preconditionFailure("the columns of a zip are mixed up")
                    }
                    pairs.append((left, right))
                }
                try await emit(Chunk(pairs))
            }
            try await runBranches(
                [
                    run.branch(self.map { .left($0) }, at: 0),
                    run.branch(other.map { .right($0) }, at: 1),
                ], gate: run.gate)
        }
    }
}

/// Lets flows of two types share the queues of a zip.
@usableFromInline
enum ZipSide<Left: Sendable, Right: Sendable>: Sendable {
    case left(Left)
    case right(Right)
}

/// One collection of a zip.
@usableFromInline
struct ZipRun<Element: Sendable>: Sendable {
    @usableFromInline let gate = SerialGate()
    @usableFromInline let state: Local<Zipper<Element>>
    @usableFromInline let signals: [Signal]
    @usableFromInline let buffer: Int
    @usableFromInline let emit: @Sendable (_ columns: [Chunk<Element>]) async throws -> Void

    @inlinable
    init(_ number: Int, buffer: Int, emit: @escaping @Sendable ([Chunk<Element>]) async throws -> Void) {
        state = Local(Zipper(number))
        signals = (0..<number).map { _ in Signal() }
        self.buffer = buffer
        self.emit = emit
    }

    @inlinable
    func branch(_ flow: Flow<Element>, at index: Int) -> @Sendable () async throws -> BranchEnd {
        {
            let isDone = Local(false)
            try await flow.collectWhile { chunk in
                let isHeld = Local(false)
                try await gate.run {
                    state.value.append(chunk, to: index)
                    let number = state.value.rowCount
                    if number > 0 {
                        try await emit(signals.indices.map { state.value.take(number, from: $0) })
                        for released in state.value.release(buffer: buffer) { signals[released].signal() }
                    }
                    isDone.value = state.value.isDone
                    isHeld.value = state.value.counts[index] > buffer
                    state.value.isHeld[index] = isHeld.value
                }
                if isHeld.value, !isDone.value { try await signals[index].wait() }
                return !isDone.value
            }
            if isDone.value { return .complete }
            try await gate.run {
                state.value.isCompleted[index] = true
                isDone.value = state.value.isDone
            }
            return isDone.value ? .complete : .goOn
        }
    }
}
