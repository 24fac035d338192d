// feedbus: what it costs that each event tells its source when it is safe.

import FeedbusLoop
import FeedbusPlugin

/// Emissions of 256 events: a receipt is made, put on each event as a source's runner does, and settles when the last
/// event has let go of it, as a sink does with what it has written.
struct ReceiptCost: Benchmark {
    static let name = "receipts"
    static let unit = "event of an emission of 256: a receipt on it, and let go; floor: a closure in a class node"
    static let operations = 256 * 8_000
    static let limit: Double? = 30

    private static func events() -> [Event] {
        let origin = EventOrigin(source: "/benchmark", type: "number", node: "numbers")
        return (0..<256).map { Event(origin: origin, id: Bytes(String($0)), data: "{}") }
    }

    func run(on loop: EventLoop) async throws -> Int {
        let settled = Sum()
        var events = Self.events()
        for _ in 0..<Self.operations / 256 {
            let receipt = Receipt { outcome in settled.value &+= outcome.rawValue &+ 1 }
            for index in events.indices { events[index].receipt = receipt }
            for index in events.indices { events[index].receipt = nil }
        }
        return settled.value &+ events.count
    }

    func floor() -> Int? {
        let sum = Sum()
        let take = Node { sum.value &+= $0 }
        for number in 0..<Self.operations { take.take(number) }
        return sum.value
    }
}
