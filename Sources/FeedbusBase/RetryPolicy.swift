// feedbus: how often, and after what pause, something is tried again.

/// Exponential back-off with full jitter, as in the config's `retry`.
public struct RetryPolicy: Sendable, Equatable {
    /// Tries in all, the first included: 1...100.
    public var attempts: Int
    /// The longest pause before the second try; it doubles with each further one. From 10 ms.
    public var base: Duration
    /// No pause is longer.
    public var cap: Duration
    /// True: each pause is drawn evenly from zero to its longest (full jitter). False: always the longest.
    public var jitter: Bool

    public init(attempts: Int = 5, base: Duration = .seconds(1), cap: Duration = .seconds(60), jitter: Bool = true) {
        self.attempts = attempts
        self.base = base
        self.cap = cap
        self.jitter = jitter
    }

    /// The pause before try number `attempt + 1`, after `attempt` (1...) tries have failed.
    /// - Parameter unit: a random number in 0..<1.
    public func pause(afterAttempt attempt: Int, unit: Double) -> Duration {
        let doublings = min(max(attempt - 1, 0), 30)
        let longest = min(base * (1 << doublings), cap)
        return jitter ? longest * unit : longest
    }
}

/// Random numbers that a test can seed. One per node; not for secrets.
public struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number in 0..<1.
    public mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }
}
