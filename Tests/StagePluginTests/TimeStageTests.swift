// feedbus: Debounce, Throttle, Sample and Delay: what passes when, what is settled when, and who waits for whom.

import DebouncePlugin
import DelayPlugin
import FeedbusPlugin
import FeedbusTestKit
import SamplePlugin
import Testing
import ThrottlePlugin

struct TimeStageTests {
    /// 1 and 2 at once, then 3, a pause, and 4.
    private static let script = Script([(10, ["1", "2"]), (30, ["3"]), (100, ["4"]), (170, ["5"])], end: 180)

    @Test func debouncePassesWhatNothingFollows() throws {
        let trace = try run(Debounce.self, #"{"time": "50ms"}"#, Self.script)
        #expect(trace.output == ["80:3", "150:4", "180:5"])
        #expect(trace.settled == ["10:1", "30:2", "80:3", "150:4", "180:5"])
    }

    @Test func debounceDropsWhatWaitsWhenTheInputFails() throws {
        let failing = Script([(10, ["1"])], end: 20, failure: FeedbusError("test", "broken"))
        let trace = try run(Debounce.self, #"{"time": "50ms"}"#, failing)
        #expect(trace.output == [])
        #expect(trace.error == "broken")
    }

    @Test(arguments: [
        (#""leading""#, ["10:1", "100:4"], ["10:1", "10:2", "30:3", "100:4", "170:5"]),
        (#""trailing""#, ["70:3", "130:4", "190:5"], ["10:1", "30:2", "70:3", "130:4", "190:5"]),
        (#""both""#, ["10:1", "70:3", "130:4", "190:5"], ["10:1", "30:2", "70:3", "130:4", "190:5"]),
    ])
    func throttlePassesOneInASpan(edge: String, output: [String], settled: [String]) throws {
        let script = edge == #""leading""# ? Script(Array(Self.script.chunks), end: 180) : Self.script
        let trace = try run(
            Throttle.self, "{\"time\": \"\(edge == #""leading""# ? 80 : 60)ms\", \"edge\": \(edge)}", script)
        #expect(trace.output == output)
        #expect(trace.settled == settled)
    }

    @Test func throttleIsLeadingByDefault() throws {
        let trace = try run(Throttle.self, #"{"time": "15ms"}"#, Self.script)
        #expect(trace.output == ["10:1", "30:3", "100:4", "170:5"])
    }

    @Test func anEdgeAfterAQuietSpanOpensANewOne() throws {
        let script = Script([(0, ["1"]), (200, ["2"]), (210, ["3"]), (500, ["4"])], end: 600)
        #expect(
            try run(Throttle.self, #"{"time": "50ms", "edge": "trailing"}"#, script).output == [
                "50:1", "250:3", "550:4",
            ])
        #expect(
            try run(Throttle.self, #"{"time": "50ms", "edge": "both"}"#, script).output
                == ["0:1", "200:2", "250:3", "500:4"])
    }

    @Test func samplePassesTheNewestOfEachPeriod() throws {
        let trace = try run(Sample.self, #"{"every": "40ms"}"#, Self.script)
        #expect(trace.output == ["40:3", "120:4"])
        #expect(trace.settled == ["10:1", "30:2", "40:3", "120:4", "180:5"])
        let last = try run(Sample.self, #"{"every": "40ms", "emit_last": true}"#, Self.script)
        #expect(last.output == ["40:3", "120:4", "180:5"])
    }

    @Test func delayShiftsEverything() throws {
        let trace = try run(Delay.self, #"{"by": "100ms"}"#, Self.script)
        #expect(trace.output == ["110:1", "110:2", "130:3", "200:4", "270:5"])
        #expect(trace.settled == ["110:1", "110:2", "130:3", "200:4", "270:5"])
    }

    /// How many of 10 events, one every 10 ms, a stage takes in while its consumer never comes back.
    private func takenIn<S: Stage>(_ type: S.Type, _ with: String) throws -> Int {
        let options = try S.Options.decoded(from: with)
        let taken = Counter()
        try Simulation.run(leftovers: true) { simulation in
            let clock = simulation.clock
            let stage = try S(options: options, context: PluginBench(simulation).context())
            let input = Flow<Event> { emit in
                for number in 0..<10 {
                    try await clock.sleep(for: .milliseconds(10))
                    try await emit(Chunk(one: event("\(number)", id: "\(number)")))
                    taken.add(1)
                }
            }
            let flow = try await stage.transform(input)
            let running = Task(executorPreference: simulation.loop) {
                try await flow.collect { _ in try await clock.sleep(for: .seconds(3600)) }
            }
            try await clock.sleep(for: .seconds(60))
            running.cancel()
        }
        return taken.value
    }

    @Test func aBusyConsumerHoldsTheProducerOnlyWhereItMust() throws {
        #expect(try takenIn(Debounce.self, #"{"time": "15ms"}"#) == 10)
        #expect(try takenIn(Sample.self, #"{"every": "15ms"}"#) == 10)
        #expect(try takenIn(Throttle.self, #"{"time": "15ms", "edge": "trailing"}"#) == 10)
        // The leading event is a direct call: nothing is taken in behind it.
        #expect(try takenIn(Throttle.self, #"{"time": "15ms"}"#) == 0)
        // One is with the consumer; "hold" wait.
        #expect(try takenIn(Delay.self, #"{"by": "1ms", "hold": 3}"#) == 4)
    }

    @Test func anEventThatWaitsKeepsNoLargeBuffer() throws {
        let large = Bytes(String(repeating: " ", count: 1 << 16) + "{\"n\":1}")
        func check<S: Stage>(_ type: S.Type, _ with: String) throws {
            let options = try S.Options.decoded(from: with)
            try Simulation.run { simulation in
                let stage = try S(options: options, context: PluginBench(simulation).context())
                let flow = try await stage.transform(
                    .from(Chunk(one: Event(origin: testOrigin, id: "1", data: large[1 << 16..<large.count]))))
                try await flow.collect { chunk in
                    #expect(chunk.map(\.data) == ["{\"n\":1}"])
                    #expect(chunk.allSatisfy { $0.data.buffer.count < 1000 })
                }
            }
        }
        try check(Debounce.self, "{}")
        try check(Sample.self, #"{"emit_last": true}"#)
        try check(Throttle.self, #"{"edge": "trailing"}"#)
    }

    @Test func mistakesAreFoundWithTheirPlaces() throws {
        #expect(
            try mistakes(Debounce.self, #"{"time": "0s"}"#) == [
                #"2:10 out-of-range "time" must be from "1ms" to "1d", found "0s""#
            ])
        #expect(
            try mistakes(Delay.self, #"{"by": 5}"#).first?.hasPrefix(#"2:8 wrong-type "by" must be a duration"#) == true
        )
        #expect(
            try mistakes(Sample.self, #"{"period": "1s"}"#) == [
                #"2:2 unknown-option unknown option "period" of Sample at with; did you mean "every"?"#
            ])
        #expect(
            try mistakes(Throttle.self, #"{"edge": "trail"}"#) == [
                #"2:10 unknown-choice "trail" is no value of "edge": one of "leading", "trailing", "both"; did you mean "trailing"?"#
            ])
    }
}
