// feedbus: tests of the source TrendingRepos as a whole, and of recorded searches.

import FeedbusPlugin
import Testing

@testable import TrendingReposPlugin

@Suite struct TrendingReposTests {
    private static let search = "\(github)/search/repositories?q=language:swift&sort=stars&order=desc&per_page=5"
    private static let quiet = options(TrendingReposOptions.self, "{\"events_per_repo\": 0}")

    private static func events(_ name: String, _ count: Int) -> String {
        "\(github)/repos/\(name)/events?per_page=\(count)"
    }

    @Test func theRepositoryWithItsRank() throws {
        try onStage { stage in
            stage.service.on(Self.search, found(repository(7, "apple/swift", stars: 900)))
            try await stage.once(TrendingRepos.self, Self.quiet)
            let event = try #require(stage.events.first)
            #expect(event.origin.type == "com.github.repository.trending")
            #expect(
                event.origin.source.string == "\(github)/search/repositories?q=language:swift&sort=stars&order=desc")
            #expect(event.id == "7@1.1" && event.subject == "apple/swift" && event.attributes.isEmpty)
            let original = minified(Bytes(repository(7, "apple/swift", stars: 900))).string
            #expect(event.data.string == original.dropLast() + ",\"rank\":1}")
            #expect(TrendingRepos.headline(of: event) == "#1 apple/swift ★ 900")
        }
    }

    @Test func partialAnswersAreMarkedAndAnUnchangedRankingIsNotRepeated() throws {
        try onStage { stage in
            let (a, b, c, d) = (repository(1, "o/a"), repository(2, "o/b"), repository(3, "o/c"), repository(4, "o/d"))
            stage.service.on(
                Self.search, found(a, b, c), found(a, b, partial: true), found(a, b, c),
                found(a, b, c, d, partial: true), found(a, b, c, d))
            for _ in 0..<5 { try await stage.once(TrendingRepos.self, Self.quiet) }
            #expect(stage.events.map(\.subject.string) == ["o/a", "o/b", "o/c", "o/d"])
            #expect(stage.events.map { $0[attribute: "partial"] } == [nil, nil, nil, "true"])
        }
    }

    @Test func theirNewestEventsByTime() throws {
        try onStage(latency: .milliseconds(300)) { stage in
            let two = options(TrendingReposOptions.self, "{\"events_per_repo\": 2, \"limit\": 3}")
            stage.service.on(
                "\(github)/search/repositories?q=language:swift&sort=stars&order=desc&per_page=3",
                found(repository(1, "o/a"), repository(2, "o/b"), repository(3, "o/c")))
            stage.service.on(Self.events("o/a", 2), page([5, 2], repo: "o/a"))
            stage.service.on(Self.events("o/b", 2), page([6, 3], repo: "o/b"))
            stage.service.on(Self.events("o/c", 2), page([4, 1], repo: "o/c"), page([7, 4], repo: "o/c"))
            try await stage.once(TrendingRepos.self, two)
            #expect(stage.ids == ["1@1.1", "2@2.1", "3@3.1", "1", "2", "3", "4", "5", "6"])
            #expect(stage.service.openMost == 2)
            #expect(stage.events.last?.origin.source.string == "\(github)/repos/o/b/events")
            stage.forget()
            try await stage.once(TrendingRepos.self, two)
            #expect(stage.ids == ["7"])
        }
    }

    @Test func oneRepositoryWithoutEventsLeavesTheOthers() throws {
        try onStage { stage in
            let some = options(TrendingReposOptions.self, "{\"events_per_repo\": 1}")
            stage.service.on(Self.search, found(repository(1, "o/a"), repository(2, "o/b")))
            stage.service.on(Self.events("o/b", 1), page([3], repo: "o/b"))
            try await stage.once(TrendingRepos.self, some)
            #expect(stage.ids == ["1@1.1", "2@2.1", "3"])
            #expect(stage.log().count == 1 && stage.log()[0].contains("o/a"))
        }
    }

    @Test func noEventsAtAllFailThePollButTheRepositoriesAreOut() throws {
        try onStage { stage in
            let some = options(TrendingReposOptions.self, "{\"events_per_repo\": 1}")
            stage.service.on(Self.search, found(repository(1, "o/a")))
            await #expect(throws: FeedbusError.self) { try await stage.once(TrendingRepos.self, some) }
            #expect(stage.ids == ["1@1.1"])
        }
    }

    @Test func conditionalRequestsForBoth() throws {
        try onStage { stage in
            let some = options(TrendingReposOptions.self, "{\"events_per_repo\": 1, \"every\": \"1s\"}")
            stage.service.on(Self.search, tagged(found(repository(1, "o/a"))))
            stage.service.on(Self.events("o/a", 1), tagged(page([3], repo: "o/a")))
            try await stage.run(TrendingRepos.self, some, for: .seconds(5))
            #expect(stage.ids == ["1@1.1", "3"])
            #expect(stage.saves == 2)
            #expect(stage.service.requests.count >= 8)
            #expect(stage.service.requests.dropFirst(2).allSatisfy { $0.headers["If-None-Match"] != nil })
        }
    }

    @Test func everyPollOnDemand() throws {
        try onStage { stage in
            let always = options(TrendingReposOptions.self, "{\"events_per_repo\": 0, \"on\": \"poll\"}")
            stage.service.on(Self.search, tagged(found(repository(1, "o/a"))))
            try await stage.once(TrendingRepos.self, always)
            try await stage.once(TrendingRepos.self, always)
            #expect(stage.ids == ["1@1.1", "1@1.2"])
        }
    }

    @Test func anotherSearchIsAnotherRanking() throws {
        try onStage { stage in
            let other = options(TrendingReposOptions.self, "{\"events_per_repo\": 0, \"q\": \"language:c stars:>1\"}")
            stage.service.on(Self.search, tagged(found(repository(1, "o/a"))))
            stage.service.on(
                "\(github)/search/repositories?q=language:c%20stars:%3E1&sort=stars&order=desc&per_page=5",
                tagged(found(repository(1, "o/a"))))
            try await stage.once(TrendingRepos.self, Self.quiet)
            try await stage.once(TrendingRepos.self, other)
            #expect(stage.ids == ["1@1.1", "1@1.2"])
            #expect(stage.service.requests[1].headers["If-None-Match"] == nil)
        }
    }

    @Test func bestMatchHasNoSort() {
        let best = options(TrendingReposOptions.self, "{\"sort\": \"best-match\"}")
        #expect(best.requestURL == "\(github)/search/repositories?q=language:swift&per_page=5")
    }

    /// One unconditional request in an hour, also where every run is a new one.
    @Test func runsWithOnceAskConditionallyAgainAfterTheHour() throws {
        try onStage { stage in
            let options = options(TrendingReposOptions.self, "{\"events_per_repo\": 1}")
            stage.service.on(Self.search, tagged(found(repository(1, "o/a"))))
            stage.service.on(Self.events("o/a", 1), tagged(page([3], repo: "o/a")))
            var bare: [Bool] = []
            for _ in 1...9 {
                stage.forget()
                try await stage.once(TrendingRepos.self, options)
                bare.append(stage.service.requests.allSatisfy { $0.headers["If-None-Match"] == nil })
                #expect(bare.last == stage.service.requests.contains { $0.headers["If-None-Match"] == nil })
                try await stage.sleep(for: .seconds(1_200))
            }
            #expect(bare == [true, false, false, true, false, false, true, false, false])
        }
    }

    @Test func aRepositoryThatIsRefusedRestsWhileTheOthersGoOn() throws {
        try onStage { stage in
            let some = options(
                TrendingReposOptions.self, "{\"events_per_repo\": 1, \"every\": \"1m\", \"limit\": 5}")
            stage.service.on(Self.search, tagged(found(repository(1, "o/a"), repository(2, "o/b"))))
            stage.service.on(Self.events("o/b", 1), tagged(page([3], repo: "o/b")))
            try await stage.run(TrendingRepos.self, some, for: .seconds(3_500))
            let refused = stage.service.urls.count { $0 == Self.events("o/a", 1) }
            // After 5, 10, 20 minutes.
            #expect(refused == 4)
            #expect(stage.service.urls.count { $0 == Self.events("o/b", 1) } > 50)
            #expect(stage.log().count == 4 && stage.log()[0].contains("404") && stage.log()[0].contains("rests for 5m"))
        }
    }
}

@Suite(.enabled(if: SharedData.exists, SharedData.missing))
struct SearchRecordingsTests {
    private func searches() throws -> [Exchange] {
        try SharedData.files(in: "github-search/exchanges").flatMap { try Exchange.read($0) }
            .filter { $0.url.contains("/search/repositories") }
    }

    @Test func everyRecordedSearch() throws {
        let exchanges = try searches()
        #expect(exchanges.count == 5)
        for exchange in exchanges {
            let page = try SearchPage(exchange.response)
            let items = try #require(JSON.parse(exchange.response.body)["items"])
            #expect(page.unusable == 0 && !page.isPartial && !page.repositories.isEmpty)
            #expect(page.repositories.count == items.count)
            var ranking = Ranking()
            let changes = ranking.take(page, limit: 100)
            for (item, (index, change)) in zip(items.elements, changes.enumerated()) {
                #expect(change.rank == index + 1)
                #expect(change.repository.value.raw == minified(item.raw))
                #expect(change.repository.name == item["full_name"]?.string)
            }
            #expect(ranking.take(page, limit: 100).isEmpty)
            // No validators: a conditional request cannot help with searches.
            #expect(exchange.response.headers["ETag"] == nil && exchange.response.headers["Last-Modified"] == nil)
        }
    }

    @Test func oldAnswersHaveNoIncompleteResults() throws {
        let old = try Exchange.read("github-search/exchanges/octokit.rb__search_repositories.jsonl")[0]
        #expect(try JSON.parse(old.response.body)["incomplete_results"] == nil)
    }

    @Test func anIncompleteSearchOfAnotherKindIsReadAsPartial() throws {
        // The only recorded incomplete answers are of code searches, whose items are no repositories.
        let exchanges = try Exchange.read(
            "github-search/exchanges/pygithub__PaginatedList.testSearchWithIncompleteResults.jsonl")
        let pages = try exchanges.map { try SearchPage($0.response) }
        #expect(pages.contains { $0.isPartial })
        #expect(pages.allSatisfy { $0.repositories.isEmpty })
    }

    @Test func anotherShapeIsRefused() throws {
        let legacy = try Exchange.read("github-search/exchanges/pygithub__Github.testSearchRepos.jsonl")[0]
        #expect(throws: FeedbusError.self) { try SearchPage(legacy.response) }
    }
}
