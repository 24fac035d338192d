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

    init(_ engine: MarbleEngine) { edge = Edge(capacity: engine.capacity, policy: engine.policy) }

    func ask(_ number: Int) async {
        state.withLock { $0.demand = $0.demand.addingReportingOverflow(number).overflow ? .max : $0.demand + number }
        try? await changed.send(Chunk(one: 1))
    }

    /// The flow through the edge, as far as was asked for.
    func limit(_ flow: MarbleFlow) -> MarbleFlow {
        MarbleFlow { emit in
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
}
