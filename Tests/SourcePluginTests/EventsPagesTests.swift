// feedbus: tests of pages put together, with hand-made pages.

import FeedbusPlugin
import GitHubAPI
import Polling
import Testing

@Suite struct EventsPagesTests {
    private let service = GitHubService(baseURL: github, token: nil, timeout: .seconds(1), maxBody: 1 << 20)

    private func read(_ body: String, next: String? = nil) throws -> EventsPage {
        try EventsPage(
            HTTPResponse(
                status: 200, headers: next.map { link($0) } ?? [:], body: Bytes(body), url: "\(github)/events"),
            service: service)
    }

    private func pages(known: [Int] = [], maxPages: Int = 10) -> EventsPages {
        EventsPages(known: SeenIDs(limit: 1_000, known.map { String($0) }), maxPages: maxPages)
    }

    @Test func readsOnUntilTheLastPage() throws {
        var pages = pages()
        #expect(pages.add(try read(page([5, 4]), next: "\(github)/p2")) == "\(github)/p2")
        #expect(pages.add(try read(page([3, 2]), next: "\(github)/p3")) == "\(github)/p3")
        #expect(pages.add(try read(page([1]))) == nil)
        #expect(pages.news.map(\.id) == ["1", "2", "3", "4", "5"])
        #expect(!pages.hasGap)
    }

    @Test func stopsAtTheFirstPageWithSomethingKnownAndReadsItToItsEnd() throws {
        var pages = pages(known: [3])
        #expect(pages.add(try read(page([6, 5]), next: "\(github)/p2")) != nil)
        // 2 stands behind what is known: it was delivered late.
        #expect(pages.add(try read(page([4, 3, 2]), next: "\(github)/p3")) == nil)
        #expect(pages.news.map(\.id) == ["2", "4", "5", "6"])
        #expect(pages.reachedKnown && !pages.hasGap)
    }

    @Test func stopsAtMaxPages() throws {
        var pages = pages(maxPages: 2)
        #expect(pages.add(try read(page([4]), next: "\(github)/p2")) != nil)
        #expect(pages.add(try read(page([3]), next: "\(github)/p3")) == nil)
    }

    @Test func anEmptyPageEndsItWhateverItsLinkSays() throws {
        var pages = pages()
        #expect(pages.add(try read("[ ]", next: "\(github)/p2")) == nil)
        #expect(pages.news.isEmpty)
    }

    @Test func pagesThatMoveGiveEachEventOnce() throws {
        var pages = pages()
        #expect(pages.add(try read(page([5, 4, 3]), next: "\(github)/p2")) != nil)
        #expect(pages.add(try read(page([4, 3, 2]), next: "\(github)/p3")) != nil)
        // The same page again is no end: page 3 of a moving list may repeat page 2.
        #expect(pages.add(try read(page([4, 3, 2]), next: "\(github)/p4")) != nil)
        #expect(pages.add(try read(page([1]))) == nil)
        #expect(pages.news.map(\.id) == ["1", "2", "3", "4", "5"])
    }

    @Test func aGapIsOnlyWhereSomethingWasKnown() throws {
        var first = pages()
        _ = first.add(try read(page([2, 1])))
        #expect(!first.hasGap)
        var burst = pages(known: [7, 8])
        _ = burst.add(try read(page([20, 19])))
        #expect(burst.hasGap)
        var quiet = pages(known: [7])
        _ = quiet.add(try read("[]"))
        #expect(!quiet.hasGap)
    }

    @Test func neitherIdsNorTimesOrderEvents() throws {
        // Restarted lower, beside the old range, and years late.
        let late = gitHubEvent(16_224_627_865, type: "PublicEvent", at: "2021-01-01T00:00:00Z")
        var pages = pages(known: [22_724_428_131])
        _ = pages.add(try read("[\(late), \(gitHubEvent(5)), \(gitHubEvent(22_724_428_131))]"))
        #expect(pages.news.map(\.id) == ["5", "16224627865"])
    }

    @Test func whatIsNoEventIsCountedAndTheRestKept() throws {
        let body =
            "[\(gitHubEvent(3)), 17, null, {\"type\": \"PushEvent\"}, {\"id\": \"\"}, {\"id\": {}}, \(gitHubEvent(2))]"
        var pages = pages()
        _ = pages.add(try read(body))
        #expect(pages.news.map(\.id) == ["2", "3"])
        #expect(pages.unusable == 5)
    }

    @Test func aLinkToAnotherServerIsNotFollowed() throws {
        var pages = pages()
        #expect(pages.add(try read(page([1]), next: "https://evil.example/events?page=2")) == nil)
        #expect(pages.foreignLink == "on another server (https://evil.example:443)")
    }

    @Test func aCircleOfPagesEnds() throws {
        var pages = pages(maxPages: 100)
        #expect(pages.add(try read(page([4]), next: "\(github)/p2")) != nil)
        #expect(pages.add(try read(page([3]), next: "\(github)/p3")) != nil)
        #expect(pages.add(try read(page([2]), next: "\(github)/p2")) == nil)
        var itself = self.pages()
        #expect(itself.add(try read(page([4]), next: "\(github)/events")) != nil)
        #expect(itself.add(try read(page([3]), next: "\(github)/events")) == nil)
    }

    @Test func unknownTypesEmptyPayloadsAndNoRepositoryPass() throws {
        let body = """
            [{"id": "4", "type": "SponsorshipEvent", "repo": {}, "payload": {}, "created_at": "2026-10-01T20:00:02Z"},
             {"id": 3, "repo": null, "created_at": "soon"}]
            """
        let events = try read(body).events
        #expect(events.map(\.type) == ["SponsorshipEvent", "Unknown"])
        #expect(events.map(\.repository) == ["", ""])
        #expect(events.map(\.createdAt) == ["2026-10-01T20:00:02Z", ""])
        #expect(events[0].data == minified(Bytes(body))[1..<events[0].data.count + 1])
    }

    @Test func pastTheEndIsAnEmptyPage() throws {
        let page = try EventsPage(HTTPResponse(status: 422, body: "{\"message\":\"no\"}", url: "u"), service: service)
        #expect(page.events.isEmpty && page.next == .none)
    }

    @Test func anotherShapeIsAnError() {
        #expect(throws: FeedbusError.self) { try read("{\"message\": \"hello\"}") }
    }
}
