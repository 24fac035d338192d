// feedbus: tests of ranks and their changes, and of the repositories' events as one list.

import FeedbusPlugin
import GitHubAPI
import Polling
import Testing

@testable import TrendingReposPlugin

/// A ranking that `#expect` can change.
private final class Table {
    var ranking = Ranking()

    /// The changes that an answer brings.
    func take(_ body: String, limit: Int = 5) throws -> [String] {
        let page = try SearchPage(HTTPResponse(status: 200, body: Bytes(body), url: "u"))
        return ranking.take(page, limit: limit).map { "\($0.rank) \($0.repository.name)" }
    }
}

@Suite struct RankingTests {
    private func read(_ body: String) throws -> SearchPage {
        try SearchPage(HTTPResponse(status: 200, body: Bytes(body), url: "u"))
    }

    private let a = repository(1, "o/a")
    private let b = repository(2, "o/b")
    private let c = repository(3, "o/c")
    private let d = repository(4, "o/d")

    @Test func enteringAndChangingRankAreChanges() throws {
        let table = Table()
        #expect(try table.take(found(a, b)) == ["1 o/a", "2 o/b"])
        #expect(try table.take(found(a, b)) == [])
        #expect(try table.take(found(b, a)) == ["1 o/b", "2 o/a"])
        #expect(try table.take(found(b, a, c)) == ["3 o/c"])
        #expect(try table.take(found(b, c)) == ["2 o/c"])
        // It had left, and enters again.
        #expect(try table.take(found(b, a)) == ["2 o/a"])
    }

    @Test func theSameRankAgainIsAnotherEvent() throws {
        var ranking = Ranking()
        var ids: [String] = []
        for body in [found(a, b), found(b, a), found(a, b)] {
            let changes = ranking.take(try read(body), limit: 5)
            ids += changes.map { ranking.eventID($0) }
        }
        #expect(Set(ids).count == 6)
        #expect(ids[0] == "1@1.1" && ids[4] == "1@1.3")
    }

    @Test func thesameStateGivesTheSameIDs() throws {
        var saved = Ranking()
        _ = saved.take(try read(found(a, b)), limit: 5)
        var first = saved
        var second = try #require(Ranking(json: try JSON.parse(saved.json)))
        #expect(first == second)
        let page = try read(found(b, a))
        let changes = (first.take(page, limit: 5), second.take(page, limit: 5))
        #expect(changes.0.map { first.eventID($0) } == changes.1.map { second.eventID($0) })
    }

    @Test func aPartialAnswerTakesNobodyOut() throws {
        let table = Table()
        _ = try table.take(found(a, b, c))
        #expect(try table.take(found(a, b, partial: true)) == [])
        #expect(try table.take(found(a, c, partial: true)) == [])
        #expect(try table.take(found(a, b, d, partial: true)) == ["4 o/d"])
        #expect(try table.take(found(partial: true)) == [])
        #expect(table.ranking.entries.map(\.name) == ["o/a", "o/b", "o/c", "o/d"])
        #expect(try table.take(found(a, b, c, d)) == [])
    }

    @Test func aPartialAnswerStillShowsWhoHasOvertaken() throws {
        let table = Table()
        _ = try table.take(found(a, b, c))
        #expect(try table.take(found(b, a, partial: true)) == ["1 o/b", "2 o/a"])
        #expect(table.ranking.entries.map(\.rank) == [1, 2, 3])
    }

    @Test func noRankIsBeyondTheLimit() throws {
        let table = Table()
        #expect(try table.take(found(a, b, c), limit: 2) == ["1 o/a", "2 o/b"])
        #expect(try table.take(found(c, d, partial: true), limit: 2) == [])
    }

    @Test func aRenamedRepositoryIsTheSame() throws {
        let table = Table()
        _ = try table.take(found(a))
        #expect(try table.take(found(repository(1, "new/name"))) == [])
        #expect(table.ranking.entries.map(\.name) == ["new/name"])
    }

    @Test func everythingAtEveryPoll() throws {
        var ranking = Ranking()
        let first = ranking.take(try read(found(a, b)), limit: 5, everything: true).map { ranking.eventID($0) }
        let second = ranking.take(try read(found(a, b)), limit: 5, everything: true).map { ranking.eventID($0) }
        #expect(first.count == 2 && second.count == 2 && Set(first + second).count == 4)
    }

    @Test func itemsThatAreNoRepositoriesAreCounted() throws {
        let page = try read(found(a, "17", "{\"id\": 5}", repository(6, "noslash"), repository(7, "../x"), a, b))
        #expect(page.repositories.map(\.name) == ["o/a", "o/b"])
        #expect(page.unusable == 5)
    }

    @Test func anOldAnswerWithoutTheMarkIsWhole() throws {
        #expect(try read("{\"total_count\": 0, \"items\": []}").isPartial == false)
        #expect(throws: FeedbusError.self) { try read("{\"message\": \"x\"}") }
    }

    // MARK: - Their events

    private func events(_ body: String) throws -> EventsPage {
        try EventsPage(
            HTTPResponse(status: 200, body: Bytes(body), url: "u"),
            service: GitHubService(baseURL: github, token: nil, timeout: .seconds(1), maxBody: 1_024))
    }

    @Test func eventsOfAllByTimeAndEachOnce() throws {
        var newest = NewestEvents(limit: 1_000, saved: nil)
        let one = try events(
            "[\(gitHubEvent(5, at: "2026-03-01T10:00:05Z")), \(gitHubEvent(9, at: "2026-03-01T09:00:00Z"))]")
        let two = try events(
            "[\(gitHubEvent(3, at: "2026-03-01T10:00:05Z")), \(gitHubEvent(4, at: "2026-03-01T10:00:01Z"))]")
        let list = newest.take([("s1", one), ("s2", two)])
        // 5 and 3 have the same time: the order of the repositories.
        #expect(list.map(\.event.id) == ["9", "4", "5", "3"])
        #expect(list.map(\.source) == ["s1", "s2", "s1", "s2"])
        let again = newest.take([("s1", one), ("s2", two)])
        #expect(again.isEmpty)
    }

    @Test func anEventWithoutATimeGoesFirst() throws {
        var newest = NewestEvents(limit: 1_000, saved: nil)
        let list = newest.take([("s", try events("[\(gitHubEvent(2)), \(gitHubEvent(1, at: "soon"))]"))])
        #expect(list.map(\.event.id) == ["1", "2"])
    }

    @Test func theMemoryOfEventsSurvivesSaving() throws {
        var newest = NewestEvents(limit: 1_000, saved: nil)
        _ = newest.take([("s", try events(page([2, 1])))])
        let validators = Validators(etag: "\"x\"", lastModified: nil, lastFull: WallTime(seconds: 5))
        let changes = [0, 1].map { _ in newest.keep(["o/a": validators], of: ["o/a"]) }
        #expect(changes == [true, false])
        var again = NewestEvents(limit: 1_000, saved: SavedText.read(newest.saved))
        #expect(again.validators["o/a"]?.etag == "\"x\"")
        let news = again.take([("s", try events(page([3, 2, 1])))])
        #expect(news.map(\.event.id) == ["3"])
        let isChanged = again.keep([:], of: [])
        #expect(isChanged && again.validators.isEmpty)
    }

    @Test func anAnswerWithoutOneRepositoryIsNone() throws {
        #expect(throws: FeedbusError.self) { try read(found("{\"message\": \"x\"}")) }
        #expect(try read(found()).repositories.isEmpty)
    }

    // MARK: - Memory of events

    @Test func whatIsStillListedIsNotForgottenHoweverMuchElseComes() throws {
        var newest = NewestEvents(limit: 10, saved: nil)
        // Of the one repository there is a 304 at every poll: its list stays.
        _ = newest.take([("quiet", try events(page([2, 1]))), ("busy", try events(page([100])))])
        for number in 101...150 {
            // Its first event stays listed beside what comes.
            let news = newest.take([("busy", try events(page([number, 100])))])
            #expect(news.map(\.event.id) == ["\(number)"])
            newest = NewestEvents(limit: 10, saved: SavedText.read(newest.saved))
        }
        #expect(newest.take([("quiet", try events(page([3, 2, 1])))]).map(\.event.id) == ["3"])
        newest.forgetLists(allBut: ["quiet"])
        #expect(newest.listed.keys.sorted() == ["quiet"] && newest.seen.count == 10)
    }
}
