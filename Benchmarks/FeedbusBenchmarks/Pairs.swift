// feedbus: combineLatest, zip and withLatestFrom of two flows.

import FeedbusFlow
import FeedbusLoop

private let count = 400_000

private func work(_ flow: Flow<(Int, Int)>) async throws -> Int {
    let sum = UncheckedSum()
    try await flow.collect { chunk in
        for index in 0..<chunk.count { sum.value &+= chunk[index].0 &+ chunk[index].1 }
    }
    return sum.value
}

private func plain() -> Int {
    let sum = UncheckedSum()
    var latest = 0
    let sink = Node { sum.value &+= $0 &+ latest }
    let other = Node { latest = $0 }
    for number in 0..<count / 2 {
        other.take(number)
        sink.take(number)
    }
    return sum.value
}

/// Two flows of numbers.
private func two(chunk: Int) -> (Flow<Int>, Flow<Int>) {
    (numbers(count / 2, chunk: chunk), numbers(count / 2, chunk: chunk))
}

/// Two flows side by side, each number an operation.
protocol PairBenchmark: Benchmark {
    static var chunk: Int { get }
    func pair(_ left: Flow<Int>, _ right: Flow<Int>) -> Flow<(Int, Int)>
}

extension PairBenchmark {
    static var unit: String {
        "number of 2 flows in chunks of \(chunk == 1 ? "one" : "\(chunk)"); floor: closures in class nodes"
    }
    static var operations: Int { count }
    static var limit: Double? { 150 }

    func run(on loop: EventLoop) async throws -> Int {
        let (left, right) = two(chunk: Self.chunk)
        return try await work(pair(left, right))
    }
    func floor() -> Int? { plain() }
}

struct CombineLatestOfTwo: PairBenchmark {
    static let name = "combine-latest"
    static let chunk = 256
    func pair(_ left: Flow<Int>, _ right: Flow<Int>) -> Flow<(Int, Int)> { left.combineLatest(right) }
}

struct CombineLatestOfTwoOnes: PairBenchmark {
    static let name = "combine-latest-ones"
    static let chunk = 1
    func pair(_ left: Flow<Int>, _ right: Flow<Int>) -> Flow<(Int, Int)> { left.combineLatest(right) }
}

struct ZipOfTwo: PairBenchmark {
    static let name = "zip"
    static let chunk = 256
    func pair(_ left: Flow<Int>, _ right: Flow<Int>) -> Flow<(Int, Int)> { left.zip(right) }
}

struct ZipOfTwoOnes: PairBenchmark {
    static let name = "zip-ones"
    static let chunk = 1
    func pair(_ left: Flow<Int>, _ right: Flow<Int>) -> Flow<(Int, Int)> { left.zip(right) }
}

struct WithLatestFromOfTwo: PairBenchmark {
    static let name = "with-latest-from"
    static let chunk = 256
    func pair(_ left: Flow<Int>, _ right: Flow<Int>) -> Flow<(Int, Int)> { left.withLatestFrom(right) }
}

struct WithLatestFromOfTwoOnes: PairBenchmark {
    static let name = "with-latest-from-ones"
    static let chunk = 1
    func pair(_ left: Flow<Int>, _ right: Flow<Int>) -> Flow<(Int, Int)> { left.withLatestFrom(right) }
}
