// feedbus: a promise that a simulated run has found broken.

/// What was promised and did not hold, in which run, and how to see it again.
public struct SimulationViolation: Error, Sendable, CustomStringConvertible {
    /// One sentence.
    public var what: String
    public var seed: UInt64
    /// The last lines of the run's trace.
    public var trace: [String]

    public var description: String {
        """
        \(what)
        seed \(seed); run the same test with FEEDBUS_SEED=\(seed) in the environment to see it again. The last of the trace:
        \(trace.suffix(40).map { "  " + $0 }.joined(separator: "\n"))
        """
    }
}
