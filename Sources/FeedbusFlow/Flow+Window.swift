// feedbus: a flow cut into flows by count and time.

public import FeedbusBase

extension Flow {
    /// The elements in windows, each a flow: a window ends when it has `count` elements or is `time` old, whichever comes
    /// first, and then the next one opens; the first opens at once.
    ///
    /// ```
    /// self               1--2--3--------|
    /// count: 2, time: 5  a--b----c----d-|
    /// a                  1--(2|)
    /// b                     ---3-|
    /// c                          -----|
    /// d                               --|
    /// ```
    /// A window completes before the next one opens. Completion and error reach the open window first, then the result.
    /// A window is to be collected once; one that nobody holds, or whose collection has ended, lets its elements go.
    ///
    /// A consumer that wants no more windows (`take`, `takeWhile`) keeps the one that somebody collects: the producer goes on
    /// until it is complete; then the outer flow completes. Rx goes on in the same way, but completes the outer flow at once.
    /// Where nobody collects it (`first`, before it returns), or the outer flow was cancelled (by `takeUntil`, `takeFor`, or
    /// with the task), nobody is left to run the producer: it then ends with the error `flow.part-ended`, after what waits
    /// in it.
    ///
    /// Back-pressure: `capacity` elements of a window wait for its collector, and one window for the consumer; then the
    /// producer is held (and the time that a window lasts with it). RxSwift: `window(timeSpan:count:)`.
    /// - Parameters:
    ///   - count: elements, 1...
    ///   - time: above zero; nil: count alone.
    ///   - capacity: elements, 1...
    public func window(
        count: Int = .max, time: Duration?, clock: any EventClock, capacity: Int = 1024
    ) -> Flow<Flow<Element>> {
        precondition(count > 0 && time ?? .seconds(1) > .zero, "a window has room for one element, for some time")
        return Flow<Flow<Element>> { emit in
            let run = WindowRun<Element>(
                count: count, time: time, clock: clock, capacity: capacity, turn: SerialGate(on: #isolation))
            // Whoever still listens to a window would wait for ever.
            defer { run.end(partEnded) }
            try await run.openFirst()
            try await runBranches(
                [
                    {
                        do { try await run.windows.drain(max: 1, into: emit) } catch let abort as FlowAbort {
                            run.windows.close()
                            try await run.parts.outliveConsumer()
                            throw abort
                        }
                        return .complete
                    },
                    {
                        while true {
                            try await run.alarm.ring()
                            try await run.turn.run { try await run.open() }
                        }
                    },
                    {
                        do {
                            try await self.collectWhile { chunk in
                                try await run.add(chunk)
                                return await run.needsMore()
                            }
                            run.end(run.parts.isAbandoned ? partEnded : nil)
                        } catch {
                            run.end(error)
                            if error is CancellationError { throw error }
                        }
                        return .goOn
                    },
                ], gate: SerialGate(on: #isolation))
        }
    }
}

/// One collection of `window`.
private struct WindowRun<Element: Sendable>: Sendable {
    let count: Int
    let time: Duration?
    let clock: any EventClock
    let capacity: Int
    let alarm: Alarm
    /// Lets the producer and the timer change the window one at a time.
    let turn: SerialGate
    let windows = Edge<Flow<Element>>(capacity: 1)
    let parts = PartLedger()
    /// No edge: the consumer wants no more windows, and the last one is full. After the end of the source none is opened any
    /// more: the timer may ring at that moment, on another thread, and nobody would complete its window.
    let current = Guarded<(edge: Edge<Element>?, room: Int, isEnded: Bool)>((nil, 0, false))

    init(count: Int, time: Duration?, clock: any EventClock, capacity: Int, turn: SerialGate) {
        self.turn = turn
        self.count = count
        self.time = time
        self.clock = clock
        self.capacity = capacity
        alarm = Alarm(clock)
    }

    func openFirst() async throws { try await turn.run { try await open() } }

    /// Inside `turn`.
    func open() async throws {
        let edge = parts.isOver ? nil : Edge<Element>(capacity: capacity)
        let (old, isEnded) = current.with { state -> (Edge<Element>?, Bool) in
            defer { if !state.isEnded { (state.edge, state.room) = (edge, edge == nil ? .max : count) } }
            return (state.edge, state.isEnded)
        }
        if isEnded { return }
        old?.finish()
        // The last one that is wanted is complete: the producer is stopped, be it silent or not.
        guard let edge else { return parts.closeAll() }
        if let time { alarm.set(for: clock.now + time) }
        _ = try await windows.sendIfOpen(Chunk(one: FlowPart(edge, in: parts).flow))
    }

    func add(_ chunk: Chunk<Element>) async throws {
        var rest = chunk
        while !rest.isEmpty {
            let part = Local(Chunk<Element>())
            try await turn.run { [rest] in
                let (edge, room) = current.with { ($0.edge, $0.room) }
                part.value = rest.prefix(room)
                _ = try await edge?.sendIfOpen(part.value)
                current.with { $0.room = room - part.value.count }
                if room == part.value.count { try await open() }
            }
            rest = rest.dropFirst(part.value.count)
        }
    }

    /// - Returns: false when the producer is to stop.
    func needsMore() async -> Bool {
        if current.with({ $0.edge == nil }) { return false }
        return await parts.needsMore()
    }

    func end(_ error: (any Error)?) {
        alarm.clear()
        let edge = current.with { state in
            state.isEnded = true
            return state.edge
        }
        if let error {
            edge?.fail(partEnd(for: error))
            parts.closeAll()
            windows.fail(error)
        } else {
            edge?.finish()
            parts.closeAll()
            windows.finish()
        }
    }
}
