// feedbus: says that translating fails, but not for every event.

import FeedbusPlugin

/// Lets the first failure through, then one a minute, and each that has another reason than the one before.
struct TroubleLog {
    private var lastReason: String?
    private var lastSaid: Instant?
    private var failures = 0

    private static let pause = Duration.seconds(60)

    mutating func isNews(_ reason: String, at now: Instant) -> Bool {
        failures += 1
        if reason == lastReason, let lastSaid, now - lastSaid < TroubleLog.pause { return false }
        lastReason = reason
        lastSaid = now
        return true
    }

    /// A translation succeeded; returns how many failed before it, nil where none did.
    mutating func ended() -> Int? {
        guard failures > 0 else { return nil }
        defer { self = TroubleLog() }
        return failures
    }
}
