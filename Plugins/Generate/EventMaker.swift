// feedbus: events out of a seed.

import FeedbusPlugin

/// Makes event after event; the same seed gives the same bytes in every run, on every machine.
struct EventMaker {
    private let size: Int
    private let origin: EventOrigin
    private let seed: Int
    private var random: SplitMix64
    private(set) var made = 0

    init(size: Int, seed: Int, node: String) {
        self.size = size
        self.seed = seed
        origin = EventOrigin(source: "generate:\(seed)", type: "dev.feedbus.generated", node: node)
        random = SplitMix64(seed: UInt64(seed))
    }

    /// The next events. Their texts stand in one buffer, a line each, and their ids in another.
    mutating func next(_ count: Int) -> [Event] {
        var texts = ByteWriter(capacity: count * (size + 1))
        var ids = ByteWriter(capacity: count * 24)
        var idEnds: [Int] = []
        idEnds.reserveCapacity(count)
        for _ in 0..<count {
            append(to: &texts)
            ids.append("\(seed)-\(made)")
            idEnds.append(ids.count)
            made += 1
        }
        let (text, id) = (texts.finish(), ids.finish())
        var idStart = 0
        return (0..<count).map { index in
            defer { idStart = idEnds[index] }
            let start = index * (size + 1)
            return Event(origin: origin, id: id[idStart..<idEnds[index]], data: text[start..<start + size])
        }
    }

    private mutating func append(to texts: inout ByteWriter) {
        let start = texts.count
        let value = Double(random.next() >> 11) / Double(1 << 53)
        texts.append("{\"n\":\(made),\"value\":\(EventMaker.decimal(value)),\"text\":\"")
        var left = size - (texts.count - start) - 2
        while left > 0 {
            var letters = random.next()
            for _ in 0..<min(left, 12) {
                texts.append(EventMaker.alphabet[Int(letters & 31)])
                letters >>= 5
            }
            left -= 12
        }
        texts.append("\"}\n" as StaticString)
    }

    /// Six digits behind the point, always: the length must not depend on the value.
    private static func decimal(_ value: Double) -> String {
        let digits = String(Int(value * 1_000_000))
        return "0." + String(repeating: "0", count: 6 - digits.utf8.count) + digits
    }

    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz   ,.".utf8) + [UInt8(ascii: "e")]
}
