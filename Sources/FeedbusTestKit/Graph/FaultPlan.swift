// feedbus: what goes wrong in a simulated run, and how often.

/// Faults to inject. Chances run from 0 (never) to 1 (always); what happens when is drawn from the run's seed.
public struct FaultPlan: Sendable, Equatable {
    // MARK: Services

    /// Of a request: no connection, a reset, or no answer until its time-out.
    public var requestFails = 0.0
    /// Of a request: answered 500, 502, 503 (with and without `Retry-After`) or 429.
    public var requestRefused = 0.0
    /// Answers take up to so long.
    public var requestDelay: Duration = .zero

    // MARK: Plugins

    /// Of an emission: the source fails before it, retriably.
    public var sourceFails = 0.0
    /// Of a chunk that a stage takes in: the stage fails on it, retriably.
    public var stageFails = 0.0
    /// A stage takes up to so long for a chunk.
    public var stageDelay: Duration = .zero
    /// Of a write: it fails, retriably, before anything is written.
    public var writeFails = 0.0
    /// Of a write: it fails for good, and the sink is given up.
    public var writeFailsForGood = 0.0
    /// A write takes up to so long: a slow consumer.
    public var writeDelay: Duration = .zero

    // MARK: Surroundings

    /// Of a write to a program that a plugin has started: the program dies.
    public var programDies = 0.0
    /// Of a saving of cursors: it fails.
    public var saveFails = 0.0
    /// Work on the thread pool, and the saving of cursors, takes up to so long.
    public var poolDelay: Duration = .zero
    /// How often the program is told to stop (SIGTERM) and started again, each at a random moment.
    public var stops = 0
    /// How often the program dies (power cut) and is started again with the cursors that were saved, each at a random
    /// moment.
    public var crashes = 0

    public init() {}

    /// Nothing goes wrong.
    public static let none = FaultPlan()

    /// Delays everywhere, and nothing else: slow services, slow consumers, a slow disk.
    public static let slow: FaultPlan = {
        var plan = FaultPlan()
        plan.requestDelay = .seconds(2)
        plan.stageDelay = .milliseconds(200)
        plan.writeDelay = .seconds(1)
        plan.poolDelay = .milliseconds(100)
        return plan
    }()

    /// Delays, and errors that pass when tried again.
    public static let rough: FaultPlan = {
        var plan = slow
        plan.requestFails = 0.1
        plan.requestRefused = 0.1
        plan.sourceFails = 0.05
        plan.stageFails = 0.05
        plan.writeFails = 0.2
        plan.programDies = 0.1
        plan.saveFails = 0.2
        return plan
    }()

    /// Everything: as `rough`, with sinks that are given up, a stop and two crashes.
    public static let wild: FaultPlan = {
        var plan = rough
        plan.writeFailsForGood = 0.02
        plan.stops = 1
        plan.crashes = 2
        return plan
    }()
}
