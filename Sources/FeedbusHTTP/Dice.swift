// feedbus: random numbers for jitter.

import FeedbusBase
import Synchronization

/// A seeded source of random numbers that tasks may share.
final class Dice: Sendable {
    private let state: Mutex<SplitMix64>

    init(seed: UInt64) { state = Mutex(SplitMix64(seed: seed)) }

    /// A number in 0..<1.
    func unit() -> Double { state.withLock { $0.unit() } }
}
