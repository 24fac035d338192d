// feedbus: operators that pair an element with the latest of another flow: combineLatest, withLatestFrom.

public import Synchronization

extension Flow {
    /// The latest elements of all flows, whenever one of them emits, once each has emitted.
    ///
    /// ```
    /// a                1--------2-----|
    /// b                ---x--y--------|
    /// combineLatest    ---1x-1y-2y----|
    /// ```
    /// A flow that completes leaves its last element in force; one that completes empty completes the result at once, for
    /// nothing can come any more (as RxJava; RxSwift waits). Completes when all have; the first error cancels the others and
    /// comes out at once. One event that reaches two of the flows gives two outputs. Without flows it completes at once.
    /// Back-pressure: no buffer; while the consumer works, each flow is held at the chunk that it emits next.
    @inlinable
    public static func combineLatest(_ flows: [Flow]) -> Flow<[Element]> {
        Flow<[Element]> { emit in
            let gate = SerialGate(on: #isolation)
            let latest = Local([Element?](repeating: nil, count: flows.count))
            let missing = Local(flows.count)
            let row = Local<[Element]>([])
            let branches = flows.enumerated().map { index, flow -> @Sendable () async throws -> BranchEnd in
                {
                    try await flow.collect { chunk in
                        if try !gate.tryEnter() { try await gate.waitToEnter() }
                        if missing.value > 0 {
                            if latest.value[index] == nil { missing.value -= 1 }
                            latest.value[index] = chunk.last
                            guard missing.value == 0 else { return gate.leave() }
                            row.value = latest.value.compactMap { $0 }
                        }
                        let rows = chunk.mapped { element in
                            row.value[index] = element
                            return row.value
                        }
                        do { try await emit(rows) } catch { throw gate.closing(error) }
                        gate.leave()
                    }
                    let isEmpty = Local(false)
                    try await gate.run { isEmpty.value = latest.value[index] == nil }
                    return isEmpty.value ? .complete : .goOn
                }
            }
            try await runBranches(branches, gate: gate)
        }
    }

    /// The latest elements of this flow and another, whenever one of them emits. See `combineLatest(_:)`.
    @inlinable
    public func combineLatest<Other: Sendable>(_ other: Flow<Other>) -> Flow<(Element, Other)> {
        Flow<(Element, Other)> { emit in
            let gate = SerialGate(on: #isolation)
            let latest = Local<(mine: Element?, others: Other?)>((nil, nil))
            let pairs = Local(OneByOne<(Element, Other)>())
            try await runBranches(
                [
                    {
                        try await self.collect { chunk in
                            if try !gate.tryEnter() { try await gate.waitToEnter() }
                            if let last = chunk.last { latest.value.mine = last }
                            guard let other = latest.value.others else { return gate.leave() }
                            do { try await emit(pairs.value.mapped(chunk) { ($0, other) }) } catch {
                                throw gate.closing(error)
                            }
                            gate.leave()
                        }
                        let isEmpty = Local(false)
                        try await gate.run { isEmpty.value = latest.value.mine == nil }
                        return isEmpty.value ? .complete : .goOn
                    },
                    {
                        try await other.collect { chunk in
                            if try !gate.tryEnter() { try await gate.waitToEnter() }
                            if let last = chunk.last { latest.value.others = last }
                            guard let mine = latest.value.mine else { return gate.leave() }
                            do { try await emit(pairs.value.mapped(chunk) { (mine, $0) }) } catch {
                                throw gate.closing(error)
                            }
                            gate.leave()
                        }
                        let isEmpty = Local(false)
                        try await gate.run { isEmpty.value = latest.value.others == nil }
                        return isEmpty.value ? .complete : .goOn
                    },
                ], gate: gate)
        }
    }

    /// Each element with the latest of another flow, which is subscribed first.
    ///
    /// ```
    /// self              1-----2-----3--|
    /// other             ---x-----y------
    /// withLatestFrom    ------2x----3y-|
    /// ```
    /// Elements before the other's first are dropped. The other's completion is ignored and its last element stays in force;
    /// its error fails the result at once. Completes with this flow, and then stops the other one.
    /// Back-pressure: this flow by a direct call; the other one is never held up.
    @inlinable
    public func withLatestFrom<Other: Sendable>(_ other: Flow<Other>) -> Flow<(Element, Other)> {
        Flow<(Element, Other)> { emit in
            let gate = SerialGate(on: #isolation)
            let latest = Latest<Other>()
            let pairs = Local(OneByOne<(Element, Other)>())
            try await runBranches(
                [
                    {
                        try await other.collect { chunk in latest.set(chunk.last) }
                        return .goOn
                    },
                    {
                        try await self.collect { chunk in
                            // Nobody else emits: the gate only tells whether the other flow has failed.
                            try gate.checkOpen()
                            guard let value = latest.value else { return }
                            do { try await emit(pairs.value.mapped(chunk) { ($0, value) }) } catch {
                                throw gate.closing(error)
                            }
                        }
                        return .complete
                    },
                ], gate: gate)
        }
    }
}

/// The latest element of a flow, for another task to read.
@usableFromInline
final class Latest<Element: Sendable>: Sendable {
    @usableFromInline let state = Mutex<Element?>(nil)

    @inlinable
    init() {}

    @inlinable var value: Element? { state.withLock { $0 } }

    @inlinable
    func set(_ value: Element?) { state.withLock { $0 = value } }
}
