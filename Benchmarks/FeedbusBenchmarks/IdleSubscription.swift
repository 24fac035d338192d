// feedbus: what a subscription costs while nothing happens.

import FeedbusFlow
import FeedbusLoop
import Glibc

struct IdleSubscription: Benchmark {
    static let name = "idle-subscription"
    static let unit = "heap of a subscription to a subject that sends nothing"
    static let measure = Measure.heap
    static let operations = 100_000
    static let limit: Double? = 400

    func run(on loop: EventLoop) async throws -> Int {
        let subject = Subject<Int>()
        var subscriptions: [Subscription<Int>] = []
        subscriptions.reserveCapacity(Self.operations)
        let before = residentBytes()
        for _ in 0..<Self.operations { subscriptions.append(subject.subscribe()) }
        let used = residentBytes() - before
        return withExtendedLifetime(subscriptions) { used }
    }
}

/// What the process has in memory, in whole pages: the difference over many subscriptions is their heap.
private func residentBytes() -> Int {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 200)
    guard fgets(&line, 200, file) != nil else { return 0 }
    let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return (Int(text.split(separator: " ")[1]) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
}
