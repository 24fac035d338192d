// feedbus: whether what a consumer got is what its producers sent, each in its order.

/// Compares what a consumer takes, one event at a time, with several streams that it reads at once.
///
/// Equal events may stand in several streams (a diamond), so that there may be several ways to explain what was taken:
/// all of them are followed.
struct StreamMatcher {
    /// More ways at once than this are not followed: from then on the consumer is not checked.
    private static let mostWays = 256

    /// The number of the stream's producer, for each stream; a producer may be read twice.
    let producers: [Int]
    /// False where a policy may drop events: then any may be missing, and the order still holds.
    let isExact: Bool
    /// Ways to explain what was taken: how far each stream has been taken.
    private(set) var ways: [[Int]]
    private(set) var taken = 0
    /// There were too many ways.
    private(set) var isUnsure = false

    init(producers: [Int], isExact: Bool) {
        self.producers = producers
        self.isExact = isExact
        ways = [[Int](repeating: 0, count: producers.count)]
    }

    /// The consumer takes an event.
    /// - Parameter sent: what each producer has sent so far.
    /// - Returns: false when no stream has it next.
    mutating func take(_ fingerprint: Int, from sent: [[SentEvent]]) -> Bool {
        taken += 1
        guard !isUnsure else { return true }
        var next: [[Int]] = []
        for way in ways {
            for stream in producers.indices {
                let events = sent[producers[stream]]
                var place = way[stream]
                if !isExact { while place < events.count, events[place].fingerprint != fingerprint { place += 1 } }
                guard place < events.count, events[place].fingerprint == fingerprint else { continue }
                var way = way
                way[stream] = place + 1
                way = sorted(way)
                if !next.contains(way) { next.append(way) }
            }
        }
        if next.isEmpty { return false }
        ways = next
        if ways.count > Self.mostWays { isUnsure = true }
        return true
    }

    /// Two streams of one producer are the same to everybody.
    private func sorted(_ way: [Int]) -> [Int] {
        guard producers.count > 1, Set(producers).count < producers.count else { return way }
        var way = way
        for left in producers.indices {
            for right in producers.indices.dropFirst(left + 1)
            where producers[left] == producers[right] && way[left] < way[right] {
                way.swapAt(left, right)
            }
        }
        return way
    }

    /// Events that were sent and not taken.
    func missing(of sent: [[SentEvent]]) -> Int { producers.reduce(0) { $0 + sent[$1].count } - taken }

    /// An event that is not taken yet in any way, and for which `isWrong` holds.
    func firstWaiting(in sent: [[SentEvent]], where isWrong: (SentEvent) -> Bool) -> SentEvent? {
        guard isExact, !isUnsure else { return nil }
        var found: SentEvent?
        for way in ways {
            found = nil
            for stream in producers.indices where found == nil {
                found = sent[producers[stream]][way[stream]...].first(where: isWrong)
            }
            if found == nil { return nil }
        }
        return found
    }
}

/// An event as a producer sent it.
struct SentEvent: Sendable {
    /// Equal for events with equal content, within one process.
    var fingerprint: Int
    /// The source and the emission that it stems from, as far as its id tells.
    var origin: EmissionNumber?
    var id: String
}

/// One emission of one source.
struct EmissionNumber: Sendable, Equatable {
    var source: Int
    /// 0...
    var number: Int
}
