// feedbus: what a benchmark is.

import FeedbusLoop

/// One thing that is measured. `run` does the work once, for `operations` operations, and returns a number that depends
/// on the work, so that the optimiser cannot leave it out.
protocol Benchmark: Sendable {
    static var name: String { get }
    /// What one operation is.
    static var unit: String { get }
    /// Operations of one run.
    static var operations: Int { get }
    /// The figure to reach, in nanoseconds an operation; nil for orientation only.
    static var limit: Double? { get }
    init()
    func run(on loop: EventLoop) async throws -> Int
}

/// The median of several runs.
struct Measurement: Sendable {
    var name: String
    var unit: String
    var operations: Int
    /// Nanoseconds an operation, the median of the runs.
    var median: Double
    var best: Double
    var limit: Double?
    var isMet: Bool { limit.map { median <= $0 } ?? true }
}
