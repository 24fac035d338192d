// feedbus: drives one life of a simulated program.

import FeedbusBase
import FeedbusHTTP
import FeedbusPlugin
import FeedbusRuntime

/// Runs a graph to its end on the calling thread, and looks for broken promises after every job.
struct LifeRun {
    /// What comes over the program at a random moment.
    struct Interruption {
        enum Moment {
            case job(Int)
            case time(Instant)
        }

        var moment: Moment
        var isCrash: Bool
    }

    private struct Leftover {
        weak var host: LifeHost?
    }

    /// Jobs after which a life that does not come to its end is given up.
    private static let mostJobs = 5_000_000
    /// Virtual time after which a life that should have ended by itself is given up.
    private static let mostTime: Duration = .seconds(400 * 86_400)

    let life: SimulatedLife
    let plan: Plan
    let registry: PluginRegistry
    let services: SimulatedServices
    let programs: [String: SimulatedProgram]
    let realSinks: Set<String>
    let mode: RunMode
    /// When the program is told to stop; nil: it ends by itself.
    let duration: Duration?
    let interruption: Interruption?

    /// - Throws: `SimulationViolation`.
    func run() throws -> SimulationResult.Life {
        let (leftover, ended) = try live()
        if leftover.contains(where: { $0.host != nil }) {
            throw violation(
                "life \(life.number) has ended, but something of it is still there: a task that waits for ever, or a cycle of references"
            )
        }
        return ended
    }

    private func violation(_ what: String) -> SimulationViolation {
        SimulationViolation(what: what, seed: life.world.seed, trace: life.world.trace.lines)
    }

    /// Nothing of the graph is held any more when it returns.
    private func live() throws -> ([Leftover], SimulationResult.Life) {
        let hosts = life.loops.map { LifeHost(life, $0, programs: programs) }
        let host = hosts[0]
        let graph = Graph(plan: probedPlan, services: graphServices(hosts))
        let outcome = Latch<GraphReport>()
        host.task { outcome.set(await graph.run()) }
        var end = SimulationResult.End.ended
        do {
            end = try drive(graph, host, outcome)
        } catch {
            // Unwinds what heeds it, so that a failing run leaves little behind.
            bury(graph, host, outcome)
            throw error
        }
        var done = SimulationResult.Life(
            end: end, exitCode: nil, elapsed: .nanoseconds(life.clock.now.nanoseconds), jobs: life.loop.jobCount)
        if end == .crashed {
            bury(graph, host, outcome)
        } else if let report = outcome.value {
            done.exitCode = report.exitCode
            try checkEnd(graph, host, report)
        }
        return (hosts.map { Leftover(host: $0) }, done)
    }

    private var probedPlan: Plan {
        var plan = plan
        plan.nodes = plan.nodes.map { $0.probed(life, isReal: realSinks.contains($0.name)) }
        return plan
    }

    private func graphServices(_ hosts: [LifeHost]) -> GraphServices {
        let (life, host) = (life, hosts[0])
        let transport = services.transport()
        let ledger = ServiceLedger()
        let headlines = registry.plugins.map(\.headline)
        let log = Log(level: .debug) { record in
            guard !life.isDead else { return }
            life.note("\(record.level.name) \(record.node ?? "-"): \(record.message)")
            life.world.log(record)
        }
        return GraphServices(
            host: host, clock: life.clock, log: log, mode: mode, seed: life.world.draw(),
            headline: { event in headlines.lazy.compactMap { $0(event) }.first },
            http: { node, retry, log, clock, seed in
                PoliteClient(
                    transport: FaultyTransport(node: node, life: life, clock: clock, inner: transport),
                    ledger: ledger, retry: retry, clock: clock, log: log, seed: seed)
            },
            loadCursor: { node, key in try await host.offload { life.world.cursor(node, key) } },
            saveCursors: { saved in
                try await host.offload {
                    // After a power cut nothing is saved, and nobody learns of it.
                    if life.isDead { return }
                    let fails = life.chance(life.faults.saveFails)
                    for (node, updates) in saved {
                        let shown = updates.map { "\($0.key)=\($0.value?.string ?? "nil")" }.joined(separator: " ")
                        life.note("\(fails ? "fault: cannot save" : "save") \(node) \(shown)")
                        if fails { continue }
                        life.tally.saved(node, updates)
                        life.world.save(node, updates)
                    }
                    if fails { throw FeedbusError.fault("the state cannot be saved") }
                }
            }, moreLoops: hosts.dropFirst().map { GraphLoop(host: $0, clock: life.clock) })
    }

    // MARK: - Driving

    private func drive(_ graph: Graph, _ host: LifeHost, _ outcome: Latch<GraphReport>) throws -> SimulationResult.End {
        var interruption = interruption
        var stop = duration.map { Instant(nanoseconds: 0) + $0 }
        var end = SimulationResult.End.ended
        while outcome.value == nil {
            if try runJob(graph) {
                guard case .job(let number) = interruption?.moment, life.loop.jobCount >= number else { continue }
            } else {
                var moment = stop
                if case .time(let time) = interruption?.moment { moment = min(time, stop ?? time) }
                if life.clock.wakeNext(until: moment ?? Instant(nanoseconds: 0) + Self.mostTime) { continue }
                guard let moment else {
                    throw violation(
                        life.clock.sleeperCount == 0
                            ? "the program waits for ever: nothing is ready and nobody sleeps"
                            : "the program does not end: \(Self.mostTime) of virtual time have passed")
                }
                life.clock.move(to: moment)
                if moment == stop {
                    stop = nil
                    life.note("the time is over")
                    host.task { await graph.stop(because: "the simulated time is over") }
                    continue
                }
            }
            guard let now = interruption else { continue }
            interruption = nil
            if now.isCrash {
                life.note("crash")
                return .crashed
            }
            life.note("SIGTERM")
            end = .stopped
            stop = nil
            host.task { await graph.stop(because: "SIGTERM") }
        }
        return end
    }

    /// Runs one job, and looks whether all promises still hold.
    /// - Returns: false when none is ready.
    private func runJob(_ graph: Graph) throws -> Bool {
        var overfull: String?
        guard life.loop.runNext(then: { overfull = graph.assumeIsolated { $0.overfullBuffer } }) else { return false }
        if let what = overfull ?? life.tally.violation { throw violation(what) }
        if life.loop.jobCount > Self.mostJobs { throw violation("the program does not come to rest") }
        return true
    }

    // MARK: - Ends

    private func checkEnd(_ graph: Graph, _ host: LifeHost, _ report: GraphReport) throws {
        while try runJob(graph) {}
        life.note("ended with exit code \(report.exitCode)")
        if life.clock.sleeperCount > 0 {
            throw violation("the program has ended, but \(life.clock.sleeperCount) tasks still sleep")
        }
        let remains = Latch<(openReceipts: [String: Int], hasGivenUp: Bool)>()
        host.task { remains.set(await graph.remains) }
        while try runJob(graph) {}
        let (open, hasGivenUp) = remains.value!
        if let (node, count) = open.min(by: { $0.key < $1.key }) {
            throw violation("the program has ended, but \(count) receipts of \(node) have not settled")
        }
        life.tally.check(
            report, hasGivenUp: hasGivenUp, wasStopped: duration != nil || interruption != nil
        ) { life.world.cursor($0, $1) }
        if let what = life.tally.violation { throw violation(what) }
    }

    /// Lets a graph that is dead, or has broken a promise, come to its end unseen.
    private func bury(_ graph: Graph, _ host: LifeHost, _ outcome: Latch<GraphReport>) {
        life.die()
        host.task { await graph.stop(because: "the simulated program is dead") }
        let limit = life.clock.now + .seconds(86_400)
        repeat { life.loop.runUntilIdle() } while life.clock.wakeNext(until: limit)
    }
}
