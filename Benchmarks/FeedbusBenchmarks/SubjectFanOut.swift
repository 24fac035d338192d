// feedbus: one subject to ten subscribers, all on one loop.

import FeedbusFlow
import FeedbusLoop

private func work(_ count: Int, replay: Int, on loop: EventLoop) async throws -> Int {
    let subject = Subject<Int>(replay: replay)
    let subscriptions = (0..<10).map { _ in subject.subscribe(capacity: 512) }
    let readers = subscriptions.map { subscription in
        loop.task {
            var sum = 0
            for try await chunk in subscription.chunks { for index in 0..<chunk.count { sum &+= chunk[index] } }
            return sum
        }
    }
    try await numbers(count, chunk: 256).collect { try await subject.send($0) }
    subject.finish()
    var sum = 0
    for reader in readers { sum &+= try await reader.value }
    return sum
}

private func plain(_ count: Int) -> Int {
    let sums = (0..<10).map { _ in Sum() }
    let nodes = sums.map { sum in Node { sum.value &+= $0 } }
    for number in 0..<count { for node in nodes { node.take(number) } }
    return sums.reduce(0) { $0 &+ $1.value }
}

struct SubjectFanOut: Benchmark {
    static let name = "subject"
    static let unit = "number to 10 subscribers in chunks of 256; floor: 10 closures in class nodes"
    static let operations = 1_000_000
    static let ratioLimit: Double? = 1

    func run(on loop: EventLoop) async throws -> Int { try await work(Self.operations, replay: 0, on: loop) }
    func floor() -> Int? { plain(Self.operations) }
}

struct SubjectFanOutReplay: Benchmark {
    static let name = "subject-replay"
    static let unit = "number to 10 subscribers in chunks of 256, replay 1; floor: 10 closures in class nodes"
    static let operations = 1_000_000
    static let ratioLimit: Double? = 1

    func run(on loop: EventLoop) async throws -> Int { try await work(Self.operations, replay: 1, on: loop) }
    func floor() -> Int? { plain(Self.operations) }
}
