// feedbus: what the log says, and when, about a node that is given up.

import FeedbusPlugin
import FeedbusTestKit
import Testing

struct GiveUpTests {
    @Test func aStageIsGivenUpAloud() throws {
        var simulation = try GraphSimulation(
            config: """
                {
                  "sources": { "n": { "plugin": "Numbers", "with": { "count": 50, "every": "1s" } } },
                  "stages": { "broken": { "plugin": "Broken", "from": ["n"] } },
                  "sinks": { "log": { "plugin": "Null", "from": ["broken"] } }
                }
                """, plugins: .forTests)
        simulation.duration = .seconds(100)
        let result = try simulation.run(seed: 1)
        let said = try #require(result.trace.firstIndex { $0.contains("error broken: given up: it is broken") })
        let last = try #require(result.trace.lastIndex { $0.contains("emit n [50]") })
        #expect(said < last)
        #expect(result.trace.count { $0.contains("given up") } == 1)
        #expect(result.lives.map(\.exitCode) == [1])
        #expect(result.cursors["n"] == nil)
    }
}
