// feedbus: a subscriber that asks for elements by number, on an edge.

import FeedbusFlow
import Synchronization

/// Demand as Reactive Streams has it: an element is taken when it was asked for; the end needs no demand, but comes after
/// what is buffered.
final class MarbleDemand: Sendable {
    private struct State {
        var demand = 0
        var hasEnded = false
    }

    private let edge: Edge<MarbleValue>
    private let state = Mutex(State())
    /// Something has changed.
    private let changed = Edge<Int>(capacity: 1, policy: .latest)

    private let isDirect: Bool

    init(_ engine: MarbleEngine) {
        edge = Edge(capacity: engine.capacity, policy: engine.policy)
        isDirect = engine.isDirect
    }

    func ask(_ number: Int) async {
        state.withLock { $0.demand = $0.demand.addingReportingOverflow(number).overflow ? .max : $0.demand + number }
        try? await changed.send(Chunk(one: 1))
    }

    /// The flow as far as was asked for: through the edge or, without one, by being busy until more was asked for.
    func limit(_ flow: MarbleFlow) -> MarbleFlow {
        if isDirect { return hold(flow) }
        return MarbleFlow { emit in
            try await withThrowingDiscardingTaskGroup { group in
                group.addImmediateTask {
                    do {
                        try await flow.collect { try await self.edge.send($0) }
                        self.edge.finish()
                    } catch {
                        self.edge.fail(error)
                    }
                    self.state.withLock { $0.hasEnded = true }
                    try? await self.changed.send(Chunk(one: 1))
                }
                group.addImmediateTask {
                    while true {
                        let (demand, hasEnded) = self.state.withLock { ($0.demand, $0.hasEnded) }
                        let isDrained = hasEnded && self.edge.count + self.edge.waitingCount == 0
                        if demand == 0, !isDrained {
                            _ = try await self.changed.next()
                            continue
                        }
                        guard let chunk = try await self.edge.next(max: 1) else { return }
                        self.state.withLock { $0.demand -= 1 }
                        try await emit(chunk)
                    }
                }
            }
        }
    }

    private func hold(_ flow: MarbleFlow) -> MarbleFlow {
        MarbleFlow { emit in
            try await flow.collect { chunk in
                for value in chunk {
                    try await self.waitForDemand()
                    self.state.withLock { $0.demand -= 1 }
                    try await emit(Chunk(one: value))
                }
                try await self.waitForDemand()
            }
        }
    }

    private func waitForDemand() async throws {
        while state.withLock({ $0.demand }) == 0 { _ = try await changed.next() }
    }
}
