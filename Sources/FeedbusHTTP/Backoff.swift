// feedbus: the pause that all failing endpoints of a service make together.

import FeedbusBase

/// The back-off of one service. Endpoints that fail share one pause and one count of rounds, so that many sources of a
/// service that is down do not each begin anew; endpoints that work go on.
struct Backoff: Sendable {
    /// Rounds of failure so far.
    private(set) var rounds = 0
    /// Failing endpoints are not asked before.
    private(set) var until = Instant(nanoseconds: .min)
    private var failing: Set<String> = []

    /// True where there is nothing to remember.
    var isIdle: Bool { failing.isEmpty }

    /// When this endpoint may be asked; nil: at once.
    func wait(_ endpoint: String, now: Instant) -> Instant? {
        failing.contains(endpoint) && until > now ? until : nil
    }

    /// A request failed.
    /// - Parameters:
    ///   - startedAt: when it was sent. Requests that were under way together are one round.
    ///   - pause: the longest pause after so many rounds, drawn by the node's policy.
    mutating func failed(_ endpoint: String, startedAt: Instant, now: Instant, pause: (_ rounds: Int) -> Duration) {
        if rounds == 0 || startedAt >= until { rounds = min(rounds + 1, 100) }
        // Whoever has the longest pause is waited for. Bounded: templated URLs may have any number of endpoints.
        until = max(until, now + pause(rounds))
        if failing.count < 1_000 { failing.insert(endpoint) }
    }

    /// The endpoint works. When none fails any more, all is forgotten.
    mutating func succeeded(_ endpoint: String) {
        guard failing.remove(endpoint) != nil, failing.isEmpty else { return }
        self = Backoff()
    }
}
