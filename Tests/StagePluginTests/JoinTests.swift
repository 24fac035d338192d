// feedbus: stages that join the events of several nodes: what comes out when, of what, and what it holds back.

import CombineLatestPlugin
import ConcatPlugin
import FeedbusPlugin
import FeedbusTestKit
import Joining
import Synchronization
import Testing
import WithLatestFromPlugin
import ZipPlugin

struct JoinTests {
    /// Which receipts have settled, in order, and how.
    private final class Settled: Sendable {
        private let state = Synchronization.Mutex<[String]>([])
        var names: [String] { state.withLock { $0 } }
        func receipt(_ name: String) -> Receipt {
            Receipt { [self] outcome in state.withLock { $0.append("\(name) \(outcome)") } }
        }
    }

    /// An input that emits `(milliseconds, ids)` and ends with the last.
    private func input(
        _ node: String, _ simulation: Simulation, _ script: [(at: Int, ids: [String])], settled: Settled? = nil,
        end: Int? = nil
    ) -> StageInput {
        let origin = EventOrigin(source: "/\(node)", type: "org.example.\(node)", node: "\(node)_node")
        return StageInput(
            node: node,
            events: Flow { emit in
                let start = Instant(nanoseconds: 0)
                for step in script {
                    try await simulation.clock.sleep(until: start + .milliseconds(step.at))
                    try await emit(
                        Chunk(
                            step.ids.map { id in
                                var event = Event(origin: origin, id: Bytes(id), data: Bytes("{\"v\": \"\(id)\"}"))
                                event.receipt = settled?.receipt(id)
                                return event
                            }))
                }
                if let end { try await simulation.clock.sleep(until: start + .milliseconds(end)) }
            })
    }

    /// `20 a1+b1`
    private func run(_ flow: Flow<Event>, _ simulation: Simulation) async throws -> [String] {
        let lines = Local([String]())
        try await flow.collect { chunk in
            for event in chunk {
                lines.value.append("\(simulation.clock.now.nanoseconds / 1_000_000) \(event.id.string)")
            }
        }
        return lines.value
    }

    private final class Local: @unchecked Sendable {
        // One collection at a time touches it.
        var value: [String]
        init(_ value: [String]) { self.value = value }
    }

    // MARK: - What comes out when

    @Test func combineLatestEmitsWheneverOneDoesOnceAllHave() throws {
        try Simulation.run { simulation in
            let stage = CombineLatest(options: JoinOptions(), context: PluginBench(simulation).context())
            let flow = await stage.transform([
                input("a", simulation, [(10, ["a1", "a2"]), (30, ["a3", "a4"])]),
                input("b", simulation, [(20, ["b1"]), (40, ["b2"])]),
            ])
            let lines = try await run(flow, simulation)
            #expect(lines == ["20 a2+b1", "30 a3+b1", "30 a4+b1", "40 a4+b2"])
        }
    }

    @Test func combineLatestOfAnEmptyNodeCompletesAtOnce() throws {
        try Simulation.run { simulation in
            let stage = CombineLatest(options: JoinOptions(), context: PluginBench(simulation).context())
            let flow = await stage.transform([
                input("a", simulation, [(10, ["a1"]), (1_000, ["a2"])]), input("b", simulation, [], end: 20),
            ])
            let lines = try await run(flow, simulation)
            #expect(lines == [])
            #expect(simulation.clock.now == Instant(nanoseconds: 20_000_000))
        }
    }

    @Test func zipPairsByNumberAndEndsWhenNoPairCanCome() throws {
        try Simulation.run { simulation in
            let stage = Zip(options: JoinOptions(), context: PluginBench(simulation).context())
            let flow = await stage.transform([
                input("a", simulation, [(10, ["a1", "a2", "a3"]), (1_000, ["a4"])]),
                input("b", simulation, [(20, ["b1"]), (30, ["b2"])], end: 40),
                input("c", simulation, [(5, ["c1", "c2", "c3"])]),
            ])
            let lines = try await run(flow, simulation)
            #expect(lines == ["20 a1+b1+c1", "30 a2+b2+c2"])
            #expect(simulation.clock.now == Instant(nanoseconds: 40_000_000))
        }
    }

    @Test func withLatestFromIsLedByTheFirst() throws {
        try Simulation.run { simulation in
            let stage = WithLatestFrom(options: JoinOptions(), context: PluginBench(simulation).context())
            let flow = await stage.transform([
                input("a", simulation, [(10, ["a1"]), (30, ["a2", "a3"]), (50, ["a4"])]),
                input("b", simulation, [(20, ["b1", "b2"]), (40, ["b3"])]),
            ])
            let lines = try await run(flow, simulation)
            #expect(lines == ["30 a2+b2", "30 a3+b2", "50 a4+b3"])
            // It ends with the first, whatever the others do.
            #expect(simulation.clock.now == Instant(nanoseconds: 50_000_000))
        }
    }

    @Test func withLatestFromWaitsForAllOthers() throws {
        try Simulation.run { simulation in
            let stage = WithLatestFrom(options: JoinOptions(), context: PluginBench(simulation).context())
            let flow = await stage.transform([
                input("a", simulation, [(10, ["a1"]), (30, ["a2"]), (50, ["a3"])]),
                input("b", simulation, [(5, ["b1"])]),
                input("c", simulation, [(20, ["c1"]), (40, ["c2"])], end: 1_000),
            ])
            let lines = try await run(flow, simulation)
            #expect(lines == ["30 a2+b1+c1", "50 a3+b1+c2"])
            #expect(simulation.clock.now == Instant(nanoseconds: 50_000_000))
        }
    }

    @Test func concatTakesOneAfterTheOther() throws {
        try Simulation.run { simulation in
            let stage = Concat(options: ConcatOptions(), context: PluginBench(simulation).context())
            let flow = await stage.transform([
                input("a", simulation, [(30, ["a1"]), (40, ["a2"])]), input("b", simulation, [(10, ["b1", "b2"])]),
            ])
            let lines = try await run(flow, simulation)
            #expect(lines == ["30 a1", "40 a2", "40 b1", "40 b2"])
        }
    }

    // MARK: - What it is made of

    private func combined(_ events: [Event], _ options: JoinOptions = JoinOptions()) -> Event {
        EventCombiner(options, inputs: events.map(\.origin.node.string)).combine(events)
    }

    private func event(_ node: String, data: String, time: String = "", recorded: Bool = false) -> Event {
        Event(
            origin: EventOrigin(source: "/\(node)", type: "org.example.\(node)", node: node, recorded: recorded),
            id: Bytes(node), time: Bytes(time), data: Bytes(data))
    }

    @Test func theDataOfTheInputsStandsByteForByte() throws {
        let out = combined([event("a", data: "{\"n\":1.0,\"s\":\"\\u00e9\u{2028}\"}"), event("b", data: "[1e400, -0]")])
        #expect(out.data.string == "{\"a\":{\"n\":1.0,\"s\":\"\\u00e9\u{2028}\"},\"b\":[1e400, -0]}")
        #expect(out.origin.type == "dev.feedbus.combined")
        #expect(out.origin.source == "/a")
        #expect(out.origin.node == "a")
        #expect(out.origin.recorded == false)
    }

    @Test func namesAndTypeCanBeChosen() throws {
        let options = try JoinOptions.decoded(
            from: "{ \"as\": [\"left \\\"x\\\"\", \"right\"], \"type\": \"org.pair\" }")
        let out = combined([event("a", data: "1"), event("b", data: "2", recorded: true)], options)
        #expect(out.data.string == "{\"left \\\"x\\\"\":1,\"right\":2}")
        #expect(out.origin.type == "org.pair")
        #expect(out.origin.recorded)
    }

    @Test(arguments: [
        (["2026-03-01T12:00:00Z", "2026-03-01T12:30:00+02:00"], "2026-03-01T12:00:00Z"),
        (["2026-03-01T12:00:00Z", "2026-03-01T12:00:00.5Z"], "2026-03-01T12:00:00.5Z"),
        (["", "2026-03-01T12:00:00Z"], "2026-03-01T12:00:00Z"), (["", ""], ""),
    ]) func theTimeIsTheLatest(times: [String], latest: String) {
        #expect(combined(times.map { event("n", data: "1", time: $0) }).time.string == latest)
    }

    @Test(
        arguments: [
            (#"["a", "b"]"#, #"["x", "y"]"#, []), (#"["a", "b"]"#, #"["x", "x"]"#, [#""as" names "x" twice"#]),
            (#"["a", "b", "c"]"#, #"["x"]"#, [#""as" holds 1 name for the 3 nodes in "from""#]),
            // That is an error of the node already.
            (#"["a"]"#, #"["x", "y"]"#, []),
        ] as [(String, String, [String])]) func asNamesEachNodeOnce(from: String, names: String, expected: [String])
        throws
    {
        let node = try #require(ConfigText.parse(Bytes("{ \"from\": \(from), \"with\": { \"as\": \(names) } }")).value)
        let checking = OptionCheck(
            owner: "Zip", node: node, directory: "/", environment: [:], isExecutable: { _ in false })
        Zip.check(try JoinOptions.decoded(from: "{ \"as\": \(names) }"), checking)
        #expect(checking.problems.map(\.message) == expected.map { "\($0) (Zip at )" })
    }

    // MARK: - What it holds back

    @Test func theLatestEventHoldsItsSourceUntilItsFirstUse() throws {
        try Simulation.run { simulation in
            let settled = Settled()
            let stage = CombineLatest(options: JoinOptions(), context: PluginBench(simulation).context())
            let flow = await stage.transform([
                input("a", simulation, [(10, ["a1"]), (20, ["a2"])], settled: settled),
                input("b", simulation, [(30, ["b1"]), (40, ["b2"])], settled: settled, end: 50),
            ])
            let seen = Local([String]())
            try await flow.collect { chunk in
                seen.value += chunk.map { "\($0.id.string) after \(settled.names)" }
            }
            // a1 was never used and went when a2 came; a2 went with its first use, and is still there for the second.
            #expect(
                seen.value == [
                    "a2+b1 after [\"a1 delivered\"]",
                    "a2+b2 after [\"a1 delivered\", \"a2 delivered\", \"b1 delivered\"]",
                ])
            #expect(settled.names.count == 4)
        }
    }

    @Test func whatBecomesOfAPairBecomesOfBoth() throws {
        try Simulation.run { simulation in
            let settled = Settled()
            let stage = Zip(options: JoinOptions(), context: PluginBench(simulation).context())
            let flow = await stage.transform([
                input("a", simulation, [(10, ["a1", "a2"])], settled: settled),
                input("b", simulation, [(20, ["b1", "b2"])], settled: settled),
            ])
            try await flow.collect { chunk in
                #expect(settled.names == [])
                chunk[0].receipt?.report(.deadLettered)
            }
            #expect(settled.names.sorted() == ["a1 deadLettered", "a2 delivered", "b1 deadLettered", "b2 delivered"])
        }
    }

    @Test func whatIsKeptForLongLeavesItsLargeBufferBehind() {
        let page = Bytes(String(repeating: "7", count: 100_000))
        let origin = EventOrigin(source: "/test", type: "test", node: "test")
        let held = HeldEvent(Event(origin: origin, id: "1", data: page[10..<20]))
        #expect(held.use().data.buffer === page.buffer)
        #expect(held.use().data.buffer === page.buffer)
        #expect(held.use().data.buffer.count == 10)
        #expect(held.use().data.string == "7777777777")
    }
}
