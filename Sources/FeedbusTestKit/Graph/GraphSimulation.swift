// feedbus: runs a whole config as the program does, on one thread, in virtual time, in an order drawn from a seed.

import FeedbusBase
import FeedbusFlow
public import FeedbusPlugin
import FeedbusRuntime

/// A config with its plugins' own code, services that are recorded or scripted, and whatever goes wrong by plan.
///
///     let simulation = try GraphSimulation(config: text, plugins: registry, services: .recording(har))
///     try simulation.check(seeds: 100, faults: .wild)
///
/// Everything is drawn from the seed: which of the ready jobs runs next, what fails, what is slow, when the program is
/// killed. The same seed gives the same `SimulationResult.trace`, byte for byte. Time stands still while jobs run.
///
/// Sinks are replaced by probes that remember what was written, so that a run touches no file and no terminal; those in
/// `realSinks` run their own code as well. The plugin `Numbers`, a source that counts, is always there.
///
/// Every run checks what feedbus promises, and throws a `SimulationViolation` at the first promise that does not hold:
/// - a consumer gets what its producers sent: nothing twice, nothing out of order, nothing else;
/// - what does not arrive is counted: as dropped by a policy, or as undelivered with exit code 1;
/// - a cursor is saved when all that it stands for has arrived, and not before; after a clean end the last one is saved;
/// - buffers hold no more than the config allows;
/// - at the end all receipts have settled, and no task and no plugin is left;
/// - over all lives of a program that was stopped or killed, nothing is lost: see `complete`.
public struct GraphSimulation: Sendable {
    private let plan: Plan
    private let plugins: PluginRegistry
    private let programs: [String: SimulatedProgram]

    public var services: SimulatedServices
    /// As with `--once`: each poller polls once, and the program ends by itself.
    public var once = false
    /// Virtual time after which the program is told to stop; nil: when its sources have come to their end (needs `once`).
    public var duration: Duration?
    /// Names of sink nodes whose own code runs, inside a probe. Their files are real, and relative to `directory`.
    public var realSinks: Set<String> = []
    /// Sinks that must get, over all lives of a program in trouble, every event that an undisturbed one delivers. Those
    /// that read sources through nothing but subjects and buffers that block are meant anyway. Name others where what
    /// reaches them does not depend on order and time.
    public var complete: Set<String> = []
    /// How many loops host the nodes, 1...64: at first what the config says (`feedbus.loops`). All run on the calling thread,
    /// one job at a time, in the order drawn from the seed.
    public var loops: Int
    /// So many lines of the trace are kept, the newest.
    public var traceLimit = 100_000

    /// - Parameters:
    ///   - config: the text of a config file.
    ///   - programs: what plugins may start, by the name without a folder; the machine's own programs are not there.
    ///   - directory: absolute; relative paths in the config count from here.
    ///   - overrides: as the options of `--set`: `sources.jokes.with.every=5s`.
    ///   - environment: for `${NAME}` and `env:NAME` in the config.
    /// - Throws: `FeedbusError` (`test.config`) with everything that is wrong with the config.
    public init(
        config: String, plugins: PluginRegistry, services: SimulatedServices = .none,
        programs: [String: SimulatedProgram] = [:], directory: String = "/", overrides: [String] = [],
        environment: [String: String] = [:]
    ) throws {
        var plugins = plugins
        if plugins.plugin(Numbers.name, .source) == nil { plugins.add(Numbers.self) }
        var files = FileAccess.system
        files.isExecutable = { programs[SimulatedProgram.baseName($0)] != nil }
        // Where a program is looked for; any folder will do.
        var environment = environment
        if environment["PATH"] == nil { environment["PATH"] = "/bin" }
        let loader = ConfigLoader(registry: plugins, environment: environment, files: files)
        let (plan, problems) = loader.load(
            text: Bytes(config), directory: directory, overrides: try overrides.map(Self.override))
        guard let plan else {
            let words = problems.map { "\($0.position.line):\($0.position.column): \($0.message)" }
            throw FeedbusError("test.config", "the config has problems: \(words.joined(separator: "; "))")
        }
        self.init(plan: plan, plugins: plugins, services: services, programs: programs)
    }

    /// A config that was loaded and checked elsewhere.
    package init(
        plan: Plan, plugins: PluginRegistry, services: SimulatedServices, programs: [String: SimulatedProgram]
    ) {
        self.plan = plan
        self.plugins = plugins
        self.programs = programs
        self.services = services
        loops = plan.settings.loops
    }

    private static func override(_ text: String) throws -> Override {
        guard let override = Override(argument: text) else {
            throw FeedbusError("test.config", "an override is PATH=VALUE, not \(text)")
        }
        return override
    }

    // MARK: - Runs

    /// One run.
    /// - Throws: `SimulationViolation`, with the seed in its text.
    public func run(seed: UInt64, faults: FaultPlan = .none) throws -> SimulationResult {
        try run(seed: seed, faults: faults, undisturbed: faults == .none ? nil : undisturbed())
    }

    /// Runs with `seeds` seeds from `first` on, and with `faults`.
    ///
    /// `FEEDBUS_SEED` in the environment picks one seed alone, and prints its trace; `FEEDBUS_SEEDS` changes their number,
    /// `FEEDBUS_FIRST_SEED` the first of them.
    /// - Parameter inspect: looks at each result; what it throws ends the check.
    /// - Throws: `SimulationViolation`, with the seed in its text.
    public func check(
        seeds: Int, from first: UInt64 = 1, faults: FaultPlan = .none,
        _ inspect: (SimulationResult) throws -> Void = { _ in }
    ) throws {
        let undisturbed = faults == .none ? nil : try undisturbed()
        if let seed = SimulationSeeds.only {
            let result = try run(seed: seed, faults: faults, undisturbed: undisturbed)
            print(result.trace.joined(separator: "\n"))
            print("seed \(seed), trace \(result.traceHash)")
            return try inspect(result)
        }
        for seed in SimulationSeeds.range(UInt64(seeds), from: first) {
            let result = try run(seed: seed, faults: faults, undisturbed: undisturbed)
            do { try inspect(result) } catch {
                throw SimulationViolation(what: describeError(error), seed: seed, trace: result.trace)
            }
        }
    }

    private func undisturbed() throws -> SimulationResult { try run(seed: 0, faults: .none, undisturbed: nil) }

    private func run(seed: UInt64, faults: FaultPlan, undisturbed: SimulationResult?) throws -> SimulationResult {
        let world = SimulatedWorld(seed: seed, traceLimit: traceLimit)
        var lives: [SimulationResult.Life] = []
        var start = WallTime(seconds: 1_772_366_400)
        func live(_ faults: FaultPlan, _ interruption: LifeRun.Interruption?) throws {
            let life = SimulatedLife(
                world: world, number: lives.count + 1, loops: loops, faults: faults, tally: DeliveryTally(plan: plan),
                start: start)
            let run = LifeRun(
                life: life, plan: plan, registry: plugins, services: services, programs: programs, realSinks: realSinks,
                mode: RunMode(once: once, offline: services.isRecorded), duration: duration,
                interruption: interruption)
            lives.append(try run.run())
            // It takes a moment to start the program again.
            start = life.clock.wallTime + .seconds(5)
        }
        if let undisturbed {
            for interruption in interruptions(faults, world, like: undisturbed.lives[0]) {
                try live(faults, interruption)
            }
            if faults.stops + faults.crashes == 0 { try live(faults, nil) }
        }
        // At last nothing goes wrong any more, and what is still owed must arrive.
        try live(.none, nil)
        let result = world.result(lives)
        if let undisturbed { try compare(result, with: undisturbed) }
        return result
    }

    /// When the program is stopped or killed: at a job or an instant that an undisturbed run comes to.
    private func interruptions(
        _ faults: FaultPlan, _ world: SimulatedWorld, like life: SimulationResult.Life
    ) -> [LifeRun.Interruption] {
        var isCrash = Array(repeating: false, count: faults.stops) + Array(repeating: true, count: faults.crashes)
        var dice = SplitMix64(seed: world.draw())
        isCrash.shuffle(using: &dice)
        return isCrash.map { isCrash in
            let moment: LifeRun.Interruption.Moment =
                if dice.unit() < 0.7 {
                    .job(Int.random(in: 1...max(life.jobs, 1), using: &dice))
                } else {
                    .time(Instant(nanoseconds: Int64.random(in: 0...max(life.elapsed.nanoseconds, 1), using: &dice)))
                }
            return LifeRun.Interruption(moment: moment, isCrash: isCrash)
        }
    }

    // MARK: - Nothing lost

    private func compare(_ result: SimulationResult, with undisturbed: SimulationResult) throws {
        func violation(_ what: String) -> SimulationViolation {
            SimulationViolation(what: what, seed: result.seed, trace: result.trace)
        }
        if let code = result.lives.last?.exitCode, code != undisturbed.lives[0].exitCode {
            throw violation("the last life, in which nothing goes wrong, ends with exit code \(code)")
        }
        for node in plan.nodes where complete.contains(node.name) || isPlain(node) {
            let got = Set((result.deliveries[node.name] ?? []).map { Identity($0.event) })
            for expected in undisturbed.deliveries[node.name] ?? [] where !got.contains(Identity(expected.event)) {
                throw violation(
                    "event \(expected.event.id) of \(expected.event.origin.node) never reached \(node.name), in no life of the program"
                )
            }
        }
    }

    private struct Identity: Hashable {
        var node: Bytes
        var id: Bytes

        init(_ event: Event) {
            node = event.origin.node
            id = event.id
        }
    }

    /// A sink that gets all that its sources emit.
    private func isPlain(_ node: PlannedNode) -> Bool {
        guard case .sink = node.role, node.buffer.whenFull == .block else { return false }
        return DeliveryTally.producers(of: node.from, in: plan.nodes).allSatisfy { name in
            plan.nodes.contains { if case .source = $0.role { $0.name == name } else { false } }
        }
    }
}
