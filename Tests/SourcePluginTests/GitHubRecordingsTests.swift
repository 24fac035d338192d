// feedbus: every recorded answer of GitHub's events through the page logic.

import FeedbusPlugin
import GitHubAPI
import Polling
import Testing

@Suite(.enabled(if: SharedData.exists, SharedData.missing))
struct GitHubRecordingsTests {
    private let service = GitHubService(baseURL: github, token: nil, timeout: .seconds(1), maxBody: 1 << 30)

    private func exchanges(_ name: String) throws -> [Exchange] {
        try Exchange.read("github-events/exchanges/\(name).jsonl").filter { $0.url.contains("/events") }
    }

    private func merge(_ exchanges: [Exchange]) throws -> EventsPages {
        var pages = EventsPages(known: SeenIDs(limit: 1_000), maxPages: 100)
        for (index, exchange) in exchanges.enumerated() {
            let next = pages.add(try EventsPage(exchange.response, service: service))
            // The links lead from each recorded page to the next.
            if index + 1 < exchanges.count { #expect(next == exchanges[index + 1].url) }
        }
        return pages
    }

    /// Each event once, in the reverse of the service's order, its data the service's own text minified.
    private func check(_ exchanges: [Exchange], _ pages: EventsPages) throws {
        var expected: [(id: String, data: Bytes)] = []
        for exchange in exchanges {
            for element in try JSON.parse(exchange.response.body).elements {
                let id = try #require(element["id"]?.string)
                if !expected.contains(where: { $0.id == id }) { expected.append((id, minified(element.raw))) }
            }
        }
        #expect(pages.news.map(\.id) == expected.reversed().map(\.id))
        for (event, original) in zip(pages.news, expected.reversed()) { #expect(event.data == original.data) }
        #expect(pages.unusable == 0)
    }

    @Test(arguments: SharedData.files(in: "github-events/exchanges"))
    func everyRecording(_ file: String) throws {
        let exchanges = try Exchange.read(file).filter { $0.url.contains("/events") }
        #expect(!exchanges.isEmpty)
        let pages = try merge(exchanges)
        try check(exchanges, pages)
        for event in pages.news {
            #expect(!event.createdAt.isEmpty && !event.repository.isEmpty)
            #expect(event.type.hasSuffix("Event"))
        }
    }

    @Test func theFeedThatMovedWhileItWasRead() throws {
        let exchanges = try exchanges("hub4j__AppTest_testEventApi")
        #expect(exchanges.count == 10)
        #expect(exchanges[1].response.body == exchanges[2].response.body)
        #expect(exchanges[1].response.headers["ETag"] == exchanges[2].response.headers["ETag"])
        let counts = try exchanges.map { try JSON.parse($0.response.body).count }
        #expect(counts.reduce(0, +) == 281)
        #expect(try merge(exchanges).news.count == 155)
    }

    @Test func threeWholePagesUnderAnotherPath() throws {
        let exchanges = try exchanges("github3.py__User_events")
        let sizes = try exchanges.map { try EventsPage($0.response, service: service).events.count }
        #expect(sizes == [100, 100, 88])
        #expect(exchanges[1].url.contains("/user/240830/events/public"))
        let events = try merge(exchanges).news
        // Ids descend but times do not always: times must not decide.
        let times = events.map { $0.createdAt.string }
        #expect(times != times.sorted())
    }

    @Test func pagesOfAHundredWithALastOne() throws {
        let exchanges = try exchanges("github3.py__Repository_network_events")
        let pages = try exchanges.map { try EventsPage($0.response, service: service) }
        #expect(pages.map(\.events.count) == [100, 100, 84])
        #expect(pages[2].next == .none)
    }

    @Test func publicIdsAreNotInOrder() throws {
        let events = try merge(try exchanges("pygithub__Github.testGetEvents")).news
        let ids = events.compactMap { Int($0.id) }
        #expect(ids.count == 30 && ids != ids.sorted())
    }

    @Test func oldRecordingsHaveOldTypesAndNoDisplayLogin() throws {
        let events = try merge(try exchanges("pygithub__Repository.testGetEvents")).news
        #expect(events.contains { $0.type == "DownloadEvent" })
        #expect(try events.allSatisfy { try JSON.parse($0.data)["actor"]?["display_login"] == nil })
    }

    @Test func aRepositoryPathInTheLink() throws {
        let exchange = try #require(try exchanges("octokit.rb__repository_events").first)
        let page = try EventsPage(exchange.response, service: service)
        #expect(page.next == .page("https://api.github.com/repositories/810796/events?page=2"))
    }

    @Test(arguments: SharedData.files(in: "github-events/bodies"))
    func everyBody(_ file: String) throws {
        let body = try SharedData.read(file)
        let isList = try JSON.parse(body).kind == .array
        let text = isList ? body : Bytes("[" + body.string + "]")
        let exchange = Exchange(
            url: "\(github)/events", response: HTTPResponse(status: 200, body: text, url: "\(github)/events"))
        let pages = try merge([exchange])
        #expect(!pages.news.isEmpty)
        try check([exchange], pages)
    }

    @Test func presentDayIdsAreLowerThanOlderOnes() throws {
        let new = try SharedData.read("github-events/bodies/antenna__repo-events-2026-10-01.first4.json")
        let drift = try SharedData.read("github-events/bodies/keemgdeok__push_event_post_drift_2025-12-15.json")
        let ids = try JSON.parse(new).elements.compactMap { $0["id"]?.string }
        let isList = try JSON.parse(drift).kind == .array
        let one = try #require(isList ? JSON.parse(drift).elements.first { _ in true } : JSON.parse(drift))
        #expect(ids.allSatisfy { $0.count == 11 && $0.hasPrefix("16") })
        #expect(one["id"]?.string?.count == 10)
        #expect(one["payload"]?["commits"] == nil && one["payload"]?["size"] == nil)
    }

    @Test func headlinesOfEveryRecordedEvent() throws {
        var maker = GitHubEventMaker(node: "rx")
        for file in SharedData.files(in: "github-events/exchanges") {
            for event in try merge(try Exchange.read(file).filter { $0.url.contains("/events") }).news {
                let text = try #require(EventHeadline.text(of: maker.event(event, source: "s")))
                #expect(text.contains(event.repository.string) && !text.contains("someone"))
            }
        }
    }
}
