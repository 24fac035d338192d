// feedbus: how what a source emits at one moment is cut into chunks.

import FeedbusBase
import FeedbusFlow
import Synchronization

/// Ways to cut: results must not depend on them.
final class MarbleCuts: Sendable {
    private enum Kind: Sendable {
        case single
        case whole
        case random
    }

    private let kind: Kind
    private let random: Mutex<SplitMix64>

    /// One by one, as other libraries have it.
    static var single: MarbleCuts { MarbleCuts(.single) }
    /// As long as can be.
    static var whole: MarbleCuts { MarbleCuts(.whole) }

    /// At random places.
    init(seed: UInt64) {
        kind = .random
        random = Mutex(SplitMix64(seed: seed))
    }

    private init(_ kind: Kind) {
        self.kind = kind
        random = Mutex(SplitMix64(seed: 0))
    }

    /// Values of one moment are one emission.
    var joins: Bool { if case .single = kind { false } else { true } }

    func cut(_ values: [MarbleValue]) -> [Chunk<MarbleValue>] {
        if values.isEmpty { return [] }
        switch kind {
        case .single: return values.map { Chunk(one: $0) }
        case .whole: return [Chunk(values)]
        case .random: return random.withLock { random in FeedbusFlowTests.cut(values, &random).map { Chunk($0) } }
        }
    }
}
