// feedbus: a thousand flows of a thousand numbers.

import FeedbusFlow
import FeedbusLoop

private func work(chunk: Int) async throws -> Int {
    let sum = Sum()
    try await numbers(1000, chunk: 256).flatMap { _ in numbers(1000, chunk: chunk) }.collect { chunk in
        for index in 0..<chunk.count { sum.value &+= chunk[index] }
    }
    return sum.value
}

private func plain() -> Int {
    let sum = Sum()
    let sink = Node { sum.value &+= $0 }
    for _ in 0..<1000 { for inner in 0..<1000 { sink.take(inner) } }
    return sum.value
}

struct FlatMapGrid: Benchmark {
    static let name = "flat-map"
    static let unit = "number of 1000 flows of 1000 in chunks of 256; floor: a closure in a class node"
    static let operations = 1_000_000
    static let limit: Double? = 15

    func run(on loop: EventLoop) async throws -> Int { try await work(chunk: 256) }
    func floor() -> Int? { plain() }
}

struct FlatMapGridOnes: Benchmark {
    static let name = "flat-map-ones"
    static let unit = "number of 1000 flows of 1000 in chunks of one; floor: a closure in a class node"
    static let operations = 1_000_000
    static let limit: Double? = 300

    func run(on loop: EventLoop) async throws -> Int { try await work(chunk: 1) }
    func floor() -> Int? { plain() }
}
