// feedbus: what happened in a simulated run, line by line.

import Synchronization

/// The lines of a run: all of them in the hash, the first ones and the last ones in memory.
final class SimulationTrace: Sendable {
    private struct State {
        var lines: [String] = []
        var dropped = 0
        /// FNV-1a, 64 bits.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        var count = 0
    }

    private let limit: Int
    private let state = Mutex(State())

    /// - Parameter limit: about so many lines are kept, the newest.
    init(limit: Int) { self.limit = limit }

    func add(_ line: String) {
        state.withLock { state in
            for byte in line.utf8 { state.hash = (state.hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            state.hash = (state.hash ^ 10) &* 0x100_0000_01B3
            state.count += 1
            state.lines.append(line)
            if state.lines.count >= 2 * limit {
                state.dropped += state.lines.count - limit
                state.lines.removeFirst(state.lines.count - limit)
            }
        }
    }

    var lines: [String] { state.withLock { Array($0.lines.suffix(limit)) } }

    /// Over every line, also those that are not kept any more.
    var hash: String {
        let digits = String(state.withLock(\.hash), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
