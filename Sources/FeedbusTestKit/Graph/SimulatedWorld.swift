// feedbus: what outlives a simulated program: its dice, its saved cursors, and the memory of what came out.

import FeedbusBase
import FeedbusPlugin
import Synchronization

/// One simulated run, over all lives of the program.
final class SimulatedWorld: Sendable {
    private struct State {
        var dice: SplitMix64
        var cursors: [String: [String: Bytes]] = [:]
        var deliveries: [String: [SimulationResult.Delivery]] = [:]
        var requests: [SimulationResult.Request] = []
        var log: [LogRecord] = []
    }

    let seed: UInt64
    let trace: SimulationTrace
    private let state: Mutex<State>

    init(seed: UInt64, traceLimit: Int) {
        self.seed = seed
        trace = SimulationTrace(limit: traceLimit)
        state = Mutex(State(dice: SplitMix64(seed: seed ^ 0x6665_6564_6275_7321)))
    }

    // MARK: - Dice

    func draw() -> UInt64 { state.withLock { $0.dice.next() } }

    func chance(_ probability: Double) -> Bool {
        probability > 0 && state.withLock { $0.dice.unit() } < probability
    }

    func number(in range: ClosedRange<Int>) -> Int {
        state.withLock { Int.random(in: range, using: &$0.dice) }
    }

    /// Nothing, half of the time; else whole milliseconds up to `longest`.
    func pause(upTo longest: Duration) -> Duration {
        let milliseconds = Int(longest.nanoseconds / 1_000_000)
        guard milliseconds > 0, chance(0.5) else { return .zero }
        return .milliseconds(number(in: 1...milliseconds))
    }

    // MARK: - Memory

    func cursor(_ node: String, _ key: String) -> Bytes? { state.withLock { $0.cursors[node]?[key] } }

    func save(_ node: String, _ updates: [CursorUpdate]) {
        state.withLock { state in
            for update in updates { state.cursors[node, default: [:]][update.key] = update.value }
        }
    }

    func delivered(_ sink: String, _ delivery: SimulationResult.Delivery) {
        state.withLock { $0.deliveries[sink, default: []].append(delivery) }
    }

    func asked(_ request: SimulationResult.Request) { state.withLock { $0.requests.append(request) } }

    func log(_ record: LogRecord) { state.withLock { $0.log.append(record) } }

    func result(_ lives: [SimulationResult.Life]) -> SimulationResult {
        state.withLock { state in
            SimulationResult(
                seed: seed, lives: lives, deliveries: state.deliveries, requests: state.requests,
                cursors: state.cursors, log: state.log, trace: trace.lines, traceHash: trace.hash)
        }
    }
}
