// feedbus: the sample config, simulated: the code of real plugins on the answers of its recording.

import AllPlugins
import FeedbusBase
import FeedbusPlugin
import FeedbusTestKit
import Testing

struct SampleTests {
    /// Two programs in the place of Apertium's: they "translate" by capitals.
    private let apertium: [String: SimulatedProgram] = [
        "apertium": .printing("eng-spa\n"),
        "bash": .answering(separator: "\0") { $0.uppercased() },
    ]

    /// The sample, for so many minutes.
    private func sample(minutes: Int = 2) throws -> GraphSimulation {
        var simulation = try GraphSimulation(
            config: try text("config.json"), plugins: .builtins(),
            services: .recording(Bytes(try text("Recordings/demo.har"))), programs: apertium,
            directory: repository)
        simulation.duration = .seconds(60 * minutes)
        return simulation
    }

    @Test func everySourceComesThrough() throws {
        let result = try sample().run(seed: 1)
        #expect(result.lives.map(\.exitCode) == [0])
        let nodes = Set((result.deliveries["log"] ?? []).map(\.event.origin.node.string))
        #expect(nodes == ["rxswift", "trending", "earth", "jokes"])
        #expect(Set(result.ids("log")) == Set(result.ids("screen")))
        #expect(result.messages(.error) == [])
        let jokes = (result.deliveries["log"] ?? []).filter { $0.event.origin.node == "jokes" }
        #expect(jokes.count > 5)
        #expect(jokes.allSatisfy { $0.event[attribute: "translationerror"] == nil })
    }

    @Test func theSameSeedGivesTheSameTrace() throws {
        for seed in UInt64(1)...3 {
            let first = try sample().run(seed: seed, faults: .wild)
            let second = try sample().run(seed: seed, faults: .wild)
            #expect(first.trace == second.trace)
            #expect(first.traceHash == second.traceHash)
            #expect(first.trace.count > 100)
        }
        let other = try sample().run(seed: 4, faults: .wild)
        #expect(try sample().run(seed: 1, faults: .wild).traceHash != other.traceHash)
    }

    @Test(arguments: [FaultPlan.none, .slow, .rough, .wild]) func promisesHold(faults: FaultPlan) throws {
        try sample().check(seeds: seeds(5, release: 50), faults: faults)
    }
}
