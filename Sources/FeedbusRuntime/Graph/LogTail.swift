// feedbus: the newest events of a durable subject, in memory for the readers that keep up.

import FeedbusFlow
import FeedbusPlugin

/// The end of a log. What all readers have taken goes; what a slow one has not taken goes too when there is more than
/// the limits allow, and it reads that from the log.
struct LogTail: Sendable {
    /// 1...
    static let eventLimit = 2_048
    static let weightLimit = 4 << 20

    private struct Piece: Sendable {
        var first: Int64
        var events: Chunk<Event>
        var weight: Int
        var end: Int64 { first + Int64(events.count) }
    }

    private var pieces: [Piece] = []
    private var count = 0
    private var weight = 0

    init() {}

    /// Adds what was committed. Numbers may have a gap, where a log was begun anew: the part before it goes.
    mutating func append(_ events: Chunk<Event>, first: Int64) {
        if let last = pieces.last, last.end != first { removeAll() }
        let piece = Piece(first: first, events: events, weight: events.reduce(0) { $0 + $1.weight })
        pieces.append(piece)
        count += events.count
        weight += piece.weight
        while pieces.count > 1, count > Self.eventLimit || weight > Self.weightLimit { removeFirst() }
    }

    /// Events from a number on, at most `most`; nil where that one is not in memory.
    func events(from number: Int64, most: Int) -> Chunk<Event>? {
        guard let piece = pieces.first(where: { number >= $0.first && number < $0.end }) else { return nil }
        return piece.events.dropFirst(Int(number - piece.first)).prefix(most)
    }

    /// Every reader has taken what comes before `number`.
    mutating func release(before number: Int64) {
        while let first = pieces.first, first.end <= number { removeFirst() }
    }

    mutating func removeAll() { self = LogTail() }

    private mutating func removeFirst() {
        let piece = pieces.removeFirst()
        count -= piece.events.count
        weight -= piece.weight
    }
}
