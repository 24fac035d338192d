// feedbus: what a simulation is for: it catches plugins that break the rules, and broken books.

import FeedbusBase
import FeedbusPlugin
import Testing

@testable import FeedbusTestKit

struct CatchTests {
    private func simulation(_ plugin: String, _ section: String) throws -> GraphSimulation {
        let numbers = "{ \"plugin\": \"Numbers\", \"with\": { \"count\": 20, \"batch\": 2, \"every\": \"1s\" } }"
        let stage =
            section == "stages" ? "\"stages\": { \"x\": { \"plugin\": \"\(plugin)\", \"from\": [\"n\"] } }," : ""
        let source = section == "sources" ? "{ \"plugin\": \"\(plugin)\" }" : numbers
        var simulation = try GraphSimulation(
            config: """
                {
                  "sources": { "n": \(source) },
                  \(stage)
                  "sinks": { "log": { "plugin": "Null", "from": ["\(stage.isEmpty ? "n" : "x")"] } }
                }
                """, plugins: .forTests)
        simulation.once = true
        return simulation
    }

    private func violation(_ simulation: GraphSimulation, faults: FaultPlan = .none) -> SimulationViolation? {
        do { try simulation.check(seeds: 30, faults: faults) } catch { return error as? SimulationViolation }
        return nil
    }

    @Test func aTaskLeftAsleep() throws {
        let found = try #require(violation(try simulation("Leaky", "stages")))
        #expect(found.what.contains("1 tasks still sleep"))
        #expect(found.description.contains("FEEDBUS_SEED=1"))
    }

    @Test func aTaskThatWaitsForEver() throws {
        let found = try #require(violation(try simulation("Waiter", "stages")))
        #expect(found.what.contains("a task that waits for ever"))
    }

    @Test func aStageThatNeverEnds() throws {
        let found = try #require(violation(try simulation("Hoarder", "stages")))
        #expect(found.what.contains("does not end"))
    }

    @Test func aCursorThatIsSavedTooEarly() throws {
        var faults = FaultPlan.none
        faults.crashes = 1
        let found = try #require(violation(try simulation("Hasty", "sources"), faults: faults))
        #expect(found.what.contains("never reached log"))
    }

    // MARK: - Books

    private func sent(_ numbers: Int...) -> [SentEvent] {
        numbers.map { SentEvent(fingerprint: $0, origin: nil, id: String($0)) }
    }

    private func take(_ numbers: [Int], _ matcher: inout StreamMatcher, _ sent: [[SentEvent]]) -> Bool {
        numbers.allSatisfy { matcher.take($0, from: sent) }
    }

    @Test func orderIsKeptInEachStreamOnly() {
        let streams = [sent(1, 2, 3), sent(7, 8)]
        var good = StreamMatcher(producers: [0, 1], isExact: true)
        #expect(take([7, 1, 2, 8, 3], &good, streams))
        #expect(good.missing(of: streams) == 0)
        var bad = StreamMatcher(producers: [0, 1], isExact: true)
        #expect(!take([1, 3], &bad, streams))
        var twice = StreamMatcher(producers: [0, 1], isExact: true)
        #expect(!take([1, 1], &twice, streams))
    }

    @Test func theSameEventByTwoWays() {
        let streams = [sent(1, 2), sent(1, 2)]
        var good = StreamMatcher(producers: [0, 1], isExact: true)
        #expect(take([1, 2, 1, 2], &good, streams))
        var also = StreamMatcher(producers: [0, 1], isExact: true)
        #expect(take([1, 1, 2, 2], &also, streams))
        var thrice = StreamMatcher(producers: [0, 1], isExact: true)
        #expect(!take([1, 1, 1], &thrice, streams))
        var readTwice = StreamMatcher(producers: [0, 0], isExact: true)
        #expect(take([1, 2, 1, 2], &readTwice, streams))
        #expect(!take([2], &readTwice, streams))
    }

    @Test func whatAPolicyDropsMayBeMissing() {
        let streams = [sent(1, 2, 3, 4)]
        var good = StreamMatcher(producers: [0], isExact: false)
        #expect(take([2, 4], &good, streams))
        #expect(good.missing(of: streams) == 2)
        #expect(!take([3], &good, streams))
    }

    @Test func whatWaitsIsSeen() {
        let streams = [sent(1, 2, 3)]
        var matcher = StreamMatcher(producers: [0], isExact: true)
        #expect(take([1, 2], &matcher, streams))
        #expect(matcher.firstWaiting(in: streams) { $0.fingerprint < 3 } == nil)
        #expect(matcher.firstWaiting(in: streams) { $0.fingerprint == 3 }?.id == "3")
    }
}
