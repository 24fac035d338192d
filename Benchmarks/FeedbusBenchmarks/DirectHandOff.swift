// feedbus: a hand-off where no buffer was asked for.

import FeedbusFlow
import FeedbusLoop

/// A producer and a collector that the optimiser cannot see together: as in a graph, where the one is found at run time.
struct DirectHandOff: Benchmark {
    static let name = "direct"
    static let unit =
        "chunk of 256 from a producer to its collector, without a buffer; what the chunk costs is left out"
    static let operations = 1_000_000
    static let limit: Double? = 100

    func run(on loop: EventLoop) async throws -> Int {
        let sum = UncheckedSum()
        let chunk = Chunk(Array(0..<256))
        let node = FlowNode(Flow { emit in for _ in 0..<Self.operations { try await emit(chunk) } })
        let sink = CollectorNode { sum.value = (sum.value ^ $0[255]) &* 31 }
        try await node.flow.collect(sink.take)
        return sum.value
    }
}

/// Holds a flow so that nobody knows what it does.
private final class FlowNode: Sendable {
    let flow: Flow<Int>
    @inline(never) init(_ flow: Flow<Int>) { self.flow = flow }
}

/// Holds a collector so that nobody knows what it does.
private final class CollectorNode: Sendable {
    let take: Flow<Int>.Collector
    @inline(never) init(_ take: @escaping Flow<Int>.Collector) { self.take = take }
}
