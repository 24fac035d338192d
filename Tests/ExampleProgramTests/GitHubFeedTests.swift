// feedbus: the example program GitHubFeed, under virtual time.

import Feedbus
import FeedbusTestKit
import GitHubFeed
import Glibc
import Testing

struct GitHubFeedTests {
    private let api = "https://api.github.com"

    private func event(_ id: Int, _ type: String, in repository: String = "o/r", payload: String = "{}") -> String {
        """
        {"id":"\(id)","type":"\(type)","created_at":"2026-03-01T10:0\(id % 10):00Z","actor":{"login":"ann"},\
        "repo":{"name":"\(repository)"},"payload":\(payload)}
        """
    }

    private func events(of repository: String, count: Int) -> String {
        "\(api)/repos/\(repository)/events?per_page=\(count)"
    }

    private func answerSearch(_ bench: PluginBench, _ names: String...) {
        let items = names.map { "{\"full_name\":\"\($0)\"}" }.joined(separator: ",")
        bench.answer(
            "\(api)/search/repositories?q=language:swift&sort=stars&order=desc&per_page=5", "{\"items\":[\(items)]}")
    }

    private func feed(_ bench: PluginBench, once: Bool = true, _ folder: TemporaryFolder) -> GitHubFeed {
        GitHubFeed(
            bench.app(once: once), repository: "o/r", search: "language:swift", file: "\(folder.path)/feed.json")
    }

    @Test func newEventsAreShownOnceAndTheNextStartBeginsWithThem() throws {
        let folder = TemporaryFolder()
        try Simulation.run { simulation in
            let bench = PluginBench(simulation)
            answerSearch(bench)
            bench.answer(
                events(of: "o/r", count: 30), "[\(event(2, "PushEvent")),\(event(1, "WatchEvent"))]",
                headers: ["ETag": "\"a\"", "Last-Modified": "Sun, 01 Mar 2026 10:02:00 GMT"])
            try await feed(bench, folder).run()
            #expect(
                bench.lines == ["2026-03-01T10:01:00Z o/r: ann starred it", "2026-03-01T10:02:00Z o/r: ann pushed"])

            // The second start: what is saved at once, and a request that costs a 304.
            bench.forget()
            try await feed(bench, folder).run()
            #expect(
                bench.lines == [
                    "2026-03-01T10:01:00Z o/r: ann starred it (saved)",
                    "2026-03-01T10:02:00Z o/r: ann pushed (saved)",
                ])
            let conditional = bench.requests.first { $0.url == events(of: "o/r", count: 30) }
            #expect(conditional?.headers["If-None-Match"] == "\"a\"")

            // The third: only what is new is new.
            bench.forget()
            bench.answer(
                events(of: "o/r", count: 30),
                "[\(event(3, "ReleaseEvent")),\(event(2, "PushEvent")),\(event(1, "WatchEvent"))]",
                headers: ["ETag": "\"b\""])
            try await feed(bench, folder).run()
            #expect(bench.lines.last == "2026-03-01T10:03:00Z o/r: ann published a release")
            #expect(bench.lines.count == 3)
        }
    }

    @Test func theNewestFiftyAreKept() throws {
        let folder = TemporaryFolder()
        try Simulation.run { simulation in
            let bench = PluginBench(simulation)
            answerSearch(bench)
            let list = (1...60).reversed().map { event($0, "ForkEvent") }.joined(separator: ",")
            bench.answer(events(of: "o/r", count: 30), "[\(list)]")
            try await feed(bench, folder).run()
            #expect(bench.lines.count == 60)
            bench.forget()
            bench.answer(events(of: "o/r", count: 30), "[]")
            try await feed(bench, folder).run()
            #expect(bench.lines.count == 50)
            #expect(bench.lines.first == "2026-03-01T10:01:00Z o/r: ann forked it (saved)")
        }
    }

    @Test func theCombinedActivityOfTheTopRepositories() throws {
        let folder = TemporaryFolder()
        try Simulation.run { simulation in
            let bench = PluginBench(simulation)
            bench.answer(events(of: "o/r", count: 30), "[]")
            answerSearch(bench, "a/one", "b/two")
            bench.answer(
                events(of: "a/one", count: 5),
                "[\(event(5, "IssuesEvent", in: "a/one", payload: #"{"action":"opened"}"#))]")
            bench.answer(
                events(of: "b/two", count: 5),
                "[\(event(6, "PushEvent", in: "b/two")),\(event(5, "IssuesEvent", in: "b/two"))]")
            try await feed(bench, folder).run()
            #expect(
                bench.lines == [
                    "2026-03-01T10:05:00Z a/one: ann opened an issue", "2026-03-01T10:06:00Z b/two: ann pushed",
                ])
        }
    }

    /// A new ranking ends the polls of the repositories that are in it no more.
    @Test func aNewRankingReplacesTheOldOne() throws {
        let folder = TemporaryFolder()
        try Simulation.run { simulation in
            let bench = PluginBench(simulation)
            bench.answer(events(of: "o/r", count: 30), "[]")
            for name in ["a/one", "b/two"] { bench.answer(events(of: name, count: 5), "[]") }
            answerSearch(bench, "a/one")
            let feed = feed(bench, once: false, folder)
            let task = Task(executorPreference: simulation.loop) { try await feed.run() }
            try await simulation.clock.sleep(for: .seconds(900))
            #expect(bench.requests.filter { $0.url == events(of: "a/one", count: 5) }.count >= 3)
            answerSearch(bench, "b/two")
            try await simulation.clock.sleep(for: .seconds(1_500))
            bench.forget()
            try await simulation.clock.sleep(for: .seconds(900))
            #expect(!bench.requests.contains { $0.url == events(of: "a/one", count: 5) })
            #expect(bench.requests.contains { $0.url == events(of: "b/two", count: 5) })
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    /// A repository that cannot be had is reported, and asked again later; the others go on.
    @Test func oneThatFailsLeavesTheOthers() throws {
        let folder = TemporaryFolder()
        try Simulation.run { simulation in
            let bench = PluginBench(simulation)
            bench.answer(events(of: "o/r", count: 30), "[\(event(1, "WatchEvent"))]")
            bench.answer(
                "\(api)/search/repositories?q=language:swift&sort=stars&order=desc&per_page=5", "", status: 500)
            let feed = feed(bench, once: false, folder)
            let task = Task(executorPreference: simulation.loop) { try await feed.run() }
            try await simulation.clock.sleep(for: .seconds(30))
            #expect(bench.lines == ["2026-03-01T10:01:00Z o/r: ann starred it"])
            #expect(bench.messages(.error).map { $0.hasPrefix("poll failed: ") } == [true])
            task.cancel()
            _ = await task.result
        }
    }

    @Test func aFileThatIsNoneOfOursIsNoHistory() throws {
        let folder = TemporaryFolder()
        try Simulation.run { simulation in
            let bench = PluginBench(simulation)
            answerSearch(bench)
            bench.answer(events(of: "o/r", count: 30), "[\(event(1, "WatchEvent"))]")
            let app = bench.app()
            try await writeWholeFileAtomically("\(folder.path)/feed.json", "{broken", on: app.host)
            try await feed(bench, folder).run()
            #expect(bench.lines.count == 1)
        }
    }
}
