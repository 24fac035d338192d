// feedbus: combineLatest, zip and withLatestFrom of two flows, one number at a time.

import FeedbusFlow
import FeedbusLoop

private let count = 200_000

private func work(_ flow: Flow<(Int, Int)>) async throws -> Int {
    let sum = Sum()
    try await flow.collect { chunk in
        for index in 0..<chunk.count { sum.value &+= chunk[index].0 &+ chunk[index].1 }
    }
    return sum.value
}

private func plain() -> Int {
    let sum = Sum()
    var latest = 0
    let sink = Node { sum.value &+= $0 &+ latest }
    let other = Node { latest = $0 }
    for number in 0..<count / 2 {
        other.take(number)
        sink.take(number)
    }
    return sum.value
}

struct CombineLatestOfTwo: Benchmark {
    static let name = "combine-latest"
    static let unit = "number of 2 flows in chunks of one; floor: closures in class nodes"
    static let operations = count
    static let limit: Double? = 150

    func run(on loop: EventLoop) async throws -> Int {
        try await work(numbers(count / 2, chunk: 1).combineLatest(numbers(count / 2, chunk: 1)))
    }
    func floor() -> Int? { plain() }
}

struct ZipOfTwo: Benchmark {
    static let name = "zip"
    static let unit = "number of 2 flows in chunks of one; floor: closures in class nodes"
    static let operations = count
    static let limit: Double? = 150

    func run(on loop: EventLoop) async throws -> Int {
        try await work(numbers(count / 2, chunk: 1).zip(numbers(count / 2, chunk: 1)))
    }
    func floor() -> Int? { plain() }
}

struct WithLatestFromOfTwo: Benchmark {
    static let name = "with-latest-from"
    static let unit = "number of 2 flows in chunks of one; floor: closures in class nodes"
    static let operations = count
    static let limit: Double? = 150

    func run(on loop: EventLoop) async throws -> Int {
        try await work(numbers(count / 2, chunk: 1).withLatestFrom(numbers(count / 2, chunk: 1)))
    }
    func floor() -> Int? { plain() }
}
