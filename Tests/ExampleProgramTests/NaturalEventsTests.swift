// feedbus: the example program NaturalEvents, under virtual time.

import Feedbus
import FeedbusTestKit
import NaturalEvents
import Testing

struct NaturalEventsTests {
    private let api = "https://eonet.gsfc.nasa.gov/api/v3"

    private func event(
        _ id: String, _ title: String, category: String = "fires", date: String, closed: String? = nil
    ) -> String {
        """
        {"id":"\(id)","title":"\(title)","closed":\(closed.map { "\"\($0)\"" } ?? "null"),\
        "categories":[{"id":"\(category)","title":"as it says"}],\
        "geometry":[{"date":"2025-01-01T00:00:00Z"},{"date":"\(date)"}]}
        """
    }

    private func events(_ list: String...) -> String { "{\"events\":[\(list.joined(separator: ","))]}" }

    private func answer(_ bench: PluginBench) {
        bench.answer(
            "\(api)/categories",
            #"{"categories":[{"id":"fires","title":"Wildfires"},{"id":"ice","title":"Sea and Lake Ice"}]}"#)
        bench.answer(
            "\(api)/events?status=open&days=30",
            events(
                event("E1", "Fire  A ", date: "2026-02-20T10:00:00Z"),
                event("E2", "Iceberg B", category: "ice", date: "2026-02-28T00:00:00Z"),
                event("E3", "Too old", date: "2026-01-01T00:00:00Z"),
                #"{"id":"E4","title":"Nowhere","categories":[],"geometry":[]}"#))
        bench.answer(
            "\(api)/events?status=closed&days=30",
            events(
                event("E5", "Fire C", date: "2026-02-10T00:00:00Z", closed: "2026-02-11T00:00:00Z"),
                event("E1", "Fire A", date: "2026-02-20T10:00:00Z", closed: "2026-02-21T00:00:00Z")))
    }

    @Test func openAndClosedEventsJoinedByCategoryThenCountedFromMemory() throws {
        try Simulation.run { simulation in
            let bench = PluginBench(simulation)
            answer(bench)
            try await NaturalEvents(bench.app(), days: 30).run()
            #expect(
                bench.lines == [
                    "2026-02-20 Wildfires: Fire A", "2026-02-28 Sea and Lake Ice: Iceberg B",
                    "2026-02-10 Wildfires: Fire C (closed)", "Wildfires: 2", "Sea and Lake Ice: 1",
                ])
            #expect(bench.requests.count == 3)
        }
    }

    /// Three collectors, one of which comes when all is over: one fetch, the same events for each.
    @Test func lateSubscribersGetThemFromMemory() throws {
        try Simulation.run { simulation in
            let bench = PluginBench(simulation)
            answer(bench)
            let events = NaturalEvents(bench.app(), days: 30).events()
            async let first = events.array()
            async let second = events.array()
            let ids = [try await first, try await second, try await events.array()].map { $0.map(\.id) }
            #expect(ids == Array(repeating: ["E1", "E2", "E5"], count: 3))
            #expect(bench.requests.count == 3)
        }
    }

    /// All three requests are under way at the same time: the slowest sets the time that it takes.
    @Test func categoriesAndEventsAreFetchedSideBySide() throws {
        try Simulation.run { simulation in
            let bench = PluginBench(simulation)
            answer(bench)
            bench.delay = .seconds(2)
            try await NaturalEvents(bench.app(), days: 30).run()
            #expect(simulation.clock.now == Instant(nanoseconds: 2_000_000_000))
        }
    }

    @Test func withoutCategoriesEventsShowTheirOwn() throws {
        try Simulation.run { simulation in
            let bench = PluginBench(simulation)
            answer(bench)
            bench.answer("\(api)/categories", "", status: 500)
            try await NaturalEvents(bench.app(), days: 30).run()
            #expect(
                bench.lines == [
                    "2026-02-20 as it says: Fire A", "2026-02-28 as it says: Iceberg B",
                    "2026-02-10 as it says: Fire C (closed)", "as it says: 3",
                ])
            #expect(bench.requests.count == 4)
            #expect(bench.messages().map { $0.hasPrefix("no categories: ") } == [true])
        }
    }

    @Test func oneListThatFailsLeavesTheOther() throws {
        try Simulation.run { simulation in
            let bench = PluginBench(simulation)
            answer(bench)
            bench.answer("\(api)/events?status=open&days=30", "<html>")
            try await NaturalEvents(bench.app(), days: 30).run()
            #expect(
                bench.lines == [
                    "2026-02-10 Wildfires: Fire C (closed)", "2026-02-20 Wildfires: Fire A (closed)", "Wildfires: 2",
                ])
            #expect(bench.messages().map { $0.hasPrefix("no open events: ") } == [true])
        }
    }

    /// The service's own clock decides what is recent: in the recording too.
    @Test func daysCountFromTheServicesClock() throws {
        try Simulation.run { simulation in
            let bench = PluginBench(simulation)
            answer(bench)
            bench.answer(
                "\(api)/events?status=open&days=30", events(event("E3", "New then", date: "2026-01-01T00:00:00Z")),
                headers: ["Date": "Fri, 30 Jan 2026 00:00:00 GMT"])
            try await NaturalEvents(bench.app(), days: 30).run()
            #expect(bench.lines.first == "2026-01-01 Wildfires: New then")
        }
    }
}
