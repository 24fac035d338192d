// feedbus: a flow for each element, several at once.

public import FeedbusBase
public import Synchronization

extension Flow {
    /// A flow for each element, up to `maxConcurrent` of them at once.
    ///
    /// ```
    /// self       1-----2-----------|
    /// flow of 1  a---a---a|
    /// flow of 2        b---b---b|
    /// flatMap    a---a-b-a-b---b---|
    /// ```
    /// Completes when the upstream and all flows have; the first error of any cancels the rest and comes out at once;
    /// elements in the queue are then dropped. `transform` is called when the flow's turn comes; what it throws fails the
    /// result. A flow that may run has been subscribed, and has emitted what it emits at once, before the upstream goes on: so
    /// an error that follows does not overtake it. Kotlin: `flatMapMerge`; RxSwift: `flatMap`, `merge(maxConcurrent:)` (with
    /// a queue without bound).
    ///
    /// Back-pressure: while the consumer works, each flow is held at the chunk that it emits next. When `maxConcurrent`
    /// flows run, `buffer` further elements wait without being subscribed; then the upstream is held with the next one.
    /// - Parameters:
    ///   - maxConcurrent: flows at a time, 1...
    ///   - buffer: elements that wait for a free place, 0...
    @inlinable
    public func flatMap<Output: Sendable>(
        maxConcurrent: Int = .max, buffer: Int = 16, _ transform: @escaping @Sendable (Element) throws -> Flow<Output>
    ) -> Flow<Output> {
        precondition(maxConcurrent > 0 && buffer >= 0, "flatMap needs room for one flow")
        return Flow<Output> { emit in
            let gate = SerialGate(on: #isolation)
            let nursery = FlatMapNursery<Element>(limit: maxConcurrent, buffer: buffer)
            let isolation = #isolation
            do {
                try await withThrowingDiscardingTaskGroup { group in
                    group.addImmediateTask {
                        try await runIsolated(to: isolation) {
                            try await nursery.failing(gate) {
                                try await self.collect { chunk in try await nursery.offer(chunk) }
                                nursery.finishOuter()
                            }
                        }
                    }
                    while let element = try await nursery.next() {
                        group.addImmediateTask {
                            try await runIsolated(to: isolation) {
                                try await nursery.failing(gate) {
                                    try await transform(element).collect { chunk in
                                        if try !gate.tryEnter() { try await gate.waitToEnter() }
                                        do { try await emit(chunk) } catch { throw gate.closing(error) }
                                        gate.leave()
                                    }
                                    nursery.finishInner()
                                }
                            }
                        }
                    }
                }
            } catch {
                throw gate.failure ?? error
            }
        }
    }
}

/// The state of one `flatMap` and those who wait at it.
@usableFromInline
final class FlatMapNursery<Element: Sendable>: Sendable {
    @usableFromInline typealias Machine = FlatMapStateMachine<Element>

    @usableFromInline let state: Mutex<Machine>

    @inlinable
    init(limit: Int, buffer: Int) { state = Mutex(Machine(limit: limit, buffer: buffer)) }

    /// A failure of any branch closes the gate and wakes who waits here.
    @inlinable
    func failing(_ gate: SerialGate, _ body: () async throws -> Void) async throws {
        do { try await body() } catch {
            gate.close(error)
            act { $0.fail(error, &$1) }
            throw error
        }
    }

    @inlinable
    func offer(_ chunk: Chunk<Element>) async throws {
        switch act({ $0.offer(chunk, &$1) }) {
        case .taken: return
        case .refused: throw SerialGate.Closed()
        case .wait: break
        }
        try await withCancellation {
            try await withUnsafeThrowingContinuation { continuation in
                act { $0.wait(outer: continuation, isCancelled: Task.isCancelled, &$1) }
            }
        } onCancel: {
            act { $0.fail(CancellationError(), &$1) }
        }
    }

    /// The element whose flow starts next; nil when there is none left.
    @inlinable
    func next() async throws -> Element? {
        try await withCancellation {
            try await withUnsafeThrowingContinuation { continuation in
                act { $0.wait(starter: continuation, isCancelled: Task.isCancelled, &$1) }
            }
        } onCancel: {
            act { $0.fail(CancellationError(), &$1) }
        }
    }

    @inlinable
    func finishOuter() { act { $0.finishOuter(&$1) } }

    @inlinable
    func finishInner() { act { $0.finishInner(&$1) } }

    @inlinable @discardableResult
    func act<Result: Sendable>(_ event: (inout Machine, inout Machine.Actions) -> Result) -> Result {
        var actions = Machine.Actions()
        let result = state.withLock { event(&$0, &actions) }
        if let outer = actions.outer {
            if let error = actions.outerError { outer.resume(throwing: error) } else { outer.resume() }
        }
        actions.starter?.resume(with: actions.starterResult)
        return result
    }
}
