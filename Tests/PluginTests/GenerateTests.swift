// feedbus: made-up events are the same for everybody.

import FeedbusPlugin
import FeedbusTestKit
import GeneratePlugin
import Testing

struct GenerateTests {
    private func events(_ with: String, once: Bool = false) throws -> (events: [Event], took: Duration) {
        try Simulation.run { simulation in
            let bench = PluginBench(simulation)
            let start = simulation.clock.now
            let source = Generate(
                options: try GenerateOptions.decoded(from: with), context: bench.context(mode: RunMode(once: once)))
            try await source.run(bench.output)
            return (bench.events, simulation.clock.now - start)
        }
    }

    @Test func theSeedDecides() throws {
        let (first, _) = try events("{\"count\": 700, \"seed\": 5}")
        let (second, _) = try events("{\"count\": 700, \"seed\": 5, \"rate\": 1000}")
        #expect(first.map(\.data) == second.map(\.data))
        #expect(first.map(\.id) == second.map(\.id))
        #expect(try events("{\"count\": 700, \"seed\": 6}").events.map(\.data) != first.map(\.data))
        #expect(Set(first.map(\.id)).count == 700)
        // Seeds are kept in configs: the same one must give the same events in every version.
        #expect(first[0].id == "5-0")
    }

    @Test(arguments: [64, 65, 100, 256, 70_000])
    func theSizeIsExact(size: Int) throws {
        for event in try events("{\"count\": 40, \"size\": \(size)}").events {
            #expect(event.data.count == size)
            let value = try JSON.parse(event.data)
            #expect(value["n"]?.int != nil && value["value"]?.double ?? 2 < 1 && value["text"]?.kind == .string)
        }
    }

    @Test func aSizeMayHaveAUnit() throws {
        #expect(try events("{\"count\": 1, \"size\": \"1KiB\"}").events[0].data.count == 1_024)
        for wrong in ["63", "\"1\"", "true", "1.5"] {
            #expect(throws: FeedbusError.self) { try events("{\"count\": 1, \"size\": \(wrong)}") }
        }
    }

    @Test func theRateIsKeptByTheClock() throws {
        let (events, took) = try events("{\"count\": 101, \"rate\": 10}")
        #expect(events.count == 101)
        #expect(took == .seconds(10))
        #expect(try self.events("{\"count\": 50001, \"rate\": 50000}").took == .seconds(1))
    }

    @Test func onceHasAnEnd() throws {
        #expect(try events("{}", once: true).events.count == 1_000)
        #expect(try events("{\"count\": 5000}", once: true).events.count == 5_000)
    }
}
