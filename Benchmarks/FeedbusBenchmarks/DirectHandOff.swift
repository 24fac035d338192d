// feedbus: a hand-off where no buffer was asked for.

import FeedbusFlow
import FeedbusLoop

struct DirectHandOff: Benchmark {
    static let name = "direct"
    static let unit = "chunk of one from a producer to its collector, without a buffer"
    static let operations = 1_000_000
    static let limit: Double? = 100

    func run(on loop: EventLoop) async throws -> Int {
        let sum = Sum()
        try await numbers(Self.operations, chunk: 1).collect { sum.value = (sum.value ^ $0[0]) &* 31 }
        return sum.value
    }
}
