// feedbus: when a plugin that failed is started again, and when it is given up.

import FeedbusBase

/// Back-off of restarts: 1 s, doubling, full jitter, at most 60 s; it starts anew after a quiet period.
package struct RestartStateMachine: Sendable {
    package enum Action: Equatable, Sendable {
        case restart(after: Duration)
        /// Failed more than `maxRestarts` times within the window.
        case giveUp(restarts: Int)
    }

    /// A run of this length without a failure ends the series of failures.
    static let quietPeriod: Duration = .seconds(60)

    private let policy: SupervisionPolicy
    private let pauses = RetryPolicy(attempts: .max, base: .seconds(1), cap: .seconds(60), jitter: true)
    private var failures: [Instant] = []
    private var series = 0
    private var startedAt: Instant

    package init(policy: SupervisionPolicy, now: Instant) {
        self.policy = policy
        startedAt = now
    }

    /// The plugin runs (again).
    package mutating func started(at now: Instant) { startedAt = now }

    /// The plugin failed.
    /// - Parameter unit: a random number in 0..<1.
    package mutating func failed(at now: Instant, unit: Double) -> Action {
        if now - startedAt >= Self.quietPeriod { series = 0 }
        series += 1
        failures.append(now)
        failures.removeAll { now - $0 > policy.within }
        guard failures.count <= policy.maxRestarts else { return .giveUp(restarts: failures.count - 1) }
        // Full jitter.
        return .restart(after: pauses.pause(afterAttempt: series, unit: unit))
    }
}
