// feedbus: runs a whole async test body on a manual loop, under virtual time.

import FeedbusBase

/// Why a simulation could not come to its end.
public struct SimulationFailure: Error, CustomStringConvertible {
    public var description: String
}

/// One run of an async body on a `ManualLoop` with a `VirtualClock`: no thread but the caller's, no real time. The same
/// seed gives the same run.
public struct Simulation: Sendable {
    public let loop: ManualLoop
    public let clock: VirtualClock

    private init(seed: UInt64?) {
        loop = ManualLoop(seed: seed)
        clock = VirtualClock(loop: loop)
    }

    /// Runs `body` to its end: jobs while there are any, then the next sleeper, and so on.
    /// - Parameters:
    ///   - seed: draws the order of ready jobs; nil runs them first in, first out.
    ///   - limit: virtual time after which the run is given up.
    ///   - leftovers: true allows tasks that still sleep when the body has returned.
    /// - Throws: what `body` threw; `SimulationFailure` when nothing is ready, nobody sleeps and the body still waits, when
    ///   the limit is reached, or when a sleeping task is left.
    public static func run<Result: Sendable>(
        seed: UInt64? = nil, limit: Duration = .seconds(30 * 86_400), leftovers: Bool = false,
        _ body: @escaping @Sendable (Simulation) async throws -> Result
    ) throws -> Result {
        let simulation = Simulation(seed: seed)
        let outcome = Latch<Swift.Result<Result, any Error>>()
        let task = Task(executorPreference: simulation.loop) {
            do { outcome.set(.success(try await body(simulation))) } catch { outcome.set(.failure(error)) }
        }
        let end = simulation.clock.now + limit
        simulation.loop.runUntilIdle()
        while outcome.value == nil, simulation.clock.wakeNext(until: end) { simulation.loop.runUntilIdle() }
        let sleepers = simulation.clock.sleeperCount
        guard let value = outcome.value else {
            // Unwinds what heeds cancellation, so that a failing test leaves little behind.
            task.cancel()
            simulation.loop.runUntilIdle()
            let reason = sleepers == 0 ? "nothing is ready and nobody sleeps" : "\(limit) of virtual time have passed"
            throw SimulationFailure(description: "the simulation is stuck: \(reason)\(words(seed))")
        }
        if sleepers > 0, !leftovers, case .success = value {
            throw SimulationFailure(description: "\(sleepers) tasks were left asleep\(words(seed))")
        }
        return try value.get()
    }

    private static func words(_ seed: UInt64?) -> String { seed.map { " (seed \($0))" } ?? "" }
}
