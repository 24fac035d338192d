// feedbus: merge of eight flows.

import FeedbusFlow
import FeedbusLoop
import Synchronization

struct MergeOfEight: Benchmark {
    static let name = "merge"
    static let unit = "number of 8 flows in chunks of 256; floor: a lock and a closure in a class node"
    static let operations = 1_000_000
    static let ratioLimit: Double? = 1

    func run(on loop: EventLoop) async throws -> Int {
        let sum = Sum()
        try await Flow.merge((0..<8).map { _ in numbers(Self.operations / 8, chunk: 256) }).collect { chunk in
            for index in 0..<chunk.count { sum.value &+= chunk[index] }
        }
        return sum.value
    }

    func floor() -> Int? {
        let sum = Sum()
        let gate = Mutex(())
        let sink = Node { sum.value &+= $0 }
        let merges = (0..<8).map { _ in Node { number in gate.withLock { _ in sink.take(number) } } }
        for number in 0..<Self.operations { merges[number & 7].take(number) }
        return sum.value
    }
}
