// feedbus: which seeds a test runs through.

import Glibc

/// Seeds of simulations, as the environment has them.
///
/// - `FEEDBUS_SEED=17`: this one alone.
/// - `FEEDBUS_SEEDS=100000`: so many.
/// - `FEEDBUS_FIRST_SEED=5000000`: from this one on.
public enum SimulationSeeds {
    /// The seed that was asked for by itself.
    public static var only: UInt64? { number("FEEDBUS_SEED") }

    /// - Parameters:
    ///   - count: how many where the environment does not say.
    ///   - first: the first of them where it does not say.
    public static func range(_ count: UInt64, from first: UInt64 = 0) -> Range<UInt64> {
        if let only { return only..<(only + 1) }
        let first = number("FEEDBUS_FIRST_SEED") ?? first
        return first..<(first + (number("FEEDBUS_SEEDS") ?? count))
    }

    private static func number(_ name: String) -> UInt64? { getenv(name).flatMap { UInt64(String(cString: $0)) } }
}
