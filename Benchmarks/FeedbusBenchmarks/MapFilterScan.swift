// feedbus: map, filter and scan over a million numbers.

import FeedbusFlow
import FeedbusLoop

private func work(_ flow: Flow<Int>) async throws -> Int {
    let sum = Sum()
    try await flow.map { $0 &+ 1 }.filter { $0 & 3 != 0 }.scan(0) { $0 &+ $1 }.collect { chunk in
        for index in 0..<chunk.count { sum.value &+= chunk[index] }
    }
    return sum.value
}

private func plain(_ count: Int) -> Int {
    let sum = Sum()
    var state = 0
    let sink = Node { sum.value &+= $0 }
    let scan = Node {
        state &+= $0
        sink.take(state)
    }
    let filter = Node { if $0 & 3 != 0 { scan.take($0) } }
    let map = Node { filter.take($0 &+ 1) }
    for number in 0..<count { map.take(number) }
    return sum.value
}

struct MapFilterScan: Benchmark {
    static let name = "map-filter-scan"
    static let unit = "number in chunks of 256; floor: closures in class nodes"
    static let operations = 1_000_000
    static let ratioLimit: Double? = 1

    func run(on loop: EventLoop) async throws -> Int { try await work(numbers(Self.operations, chunk: 256)) }
    func floor() -> Int? { plain(Self.operations) }
}

struct MapFilterScanOnes: Benchmark {
    static let name = "map-filter-scan-ones"
    static let unit = "number in chunks of one; floor: closures in class nodes"
    static let operations = 1_000_000
    static let ratioLimit: Double? = 14

    func run(on loop: EventLoop) async throws -> Int { try await work(numbers(Self.operations, chunk: 1)) }
    func floor() -> Int? { plain(Self.operations) }
}
