// feedbus: what a benchmark is.

import FeedbusLoop

/// One thing that is measured. `run` does the work once, for `operations` operations, and returns a number that depends
/// on the work, so that the optimiser cannot leave it out.
protocol Benchmark: Sendable {
    static var name: String { get }
    /// What one operation is.
    static var unit: String { get }
    /// What `run` is measured in; nanoseconds by default.
    static var measure: Measure { get }
    /// Operations of one run.
    static var operations: Int { get }
    /// The figure to reach, in nanoseconds (or bytes) an operation; nil for orientation only.
    static var limit: Double? { get }
    /// The figure to reach as a multiple of the floor.
    static var ratioLimit: Double? { get }
    init()
    func run(on loop: EventLoop) async throws -> Int
    /// The same work as plainly as Swift can do it, measured in the same run; nil without one.
    func floor() -> Int?
}

enum Measure: String, Sendable {
    case time = "ns"
    /// Heap that is in use when `run` ends, as `run` returns it.
    case heap = "B"
}

extension Benchmark {
    static var measure: Measure { .time }
    static var limit: Double? { nil }
    static var ratioLimit: Double? { nil }
    func floor() -> Int? { nil }
}

/// The median of several runs.
struct Measurement: Sendable {
    var name: String
    var unit: String
    var measure: Measure
    var operations: Int
    /// Nanoseconds (or bytes) an operation, the median of the runs.
    var median: Double
    var best: Double
    var limit: Double?
    /// The floor's median.
    var floor: Double?
    var ratioLimit: Double?
    /// The median of the runs' ratios: each to the floor that ran right before it.
    var ratio: Double?

    var isMet: Bool {
        (limit.map { median <= $0 } ?? true) && (ratioLimit.flatMap { limit in ratio.map { $0 <= limit } } ?? true)
    }
    var hasGoal: Bool { limit != nil || ratioLimit != nil }
}
