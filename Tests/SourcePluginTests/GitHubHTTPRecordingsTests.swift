// feedbus: where the recorded pages of GitHub's lists lead.

import FeedbusPlugin
import Polling
import Testing

@Suite(.enabled(if: SharedData.exists, SharedData.missing))
struct GitHubHTTPRecordingsTests {
    private func exchanges(_ name: String) throws -> [Exchange] {
        try Exchange.read("github-http/exchanges/\(name).jsonl")
    }

    private func next(_ exchange: Exchange) -> NextPage {
        NextPage(exchange.response.headers, from: exchange.url, service: github)
    }

    /// Every recording is here: a new one has to be looked at.
    @Test func theRecordingsAreKnown() throws {
        let counts = try SharedData.files(in: "github-http/exchanges").map { try Exchange.read($0).count }
        #expect(counts.count == 25 && counts.reduce(0, +) == 87)
        #expect(SharedData.files(in: "github-http/bodies") == ["github-http/bodies/antenna__404-2026-10.json"])
    }

    @Test(arguments: [("octokit-fixtures__paginate-issues", 5), ("pygithub__PaginatedList.testIteration", 14)])
    func eachPageLeadsToTheNextOne(_ name: String, _ count: Int) throws {
        let pages = try exchanges(name)
        #expect(pages.count == count)
        for (page, following) in zip(pages, pages.dropFirst()) { #expect(next(page) == .page(following.url)) }
        #expect(next(pages[count - 1]) == .none)
    }

    @Test func theLinkLeadsToAnotherPathThanWasAsked() throws {
        let first = try exchanges("octokit-fixtures__paginate-issues")[0]
        #expect(first.url.contains("/repos/octokit-fixture-org/"))
        #expect(next(first) == .page("\(github)/repositories/515435940/issues?per_page=3&page=2"))
    }

    @Test func theLastPageOf2012NamesPage1AsTheLast() throws {
        let last = try #require(try exchanges("pygithub__PaginatedList.testIteration").last)
        #expect(last.response.headers["Link"]?.contains("page=1>; rel=\"last\"") == true)
        #expect(next(last) == .none)
    }

    @Test func answersThatAreNoListsHaveNoLink() throws {
        let pages = try exchanges("pygithub__PaginatedList.setUp")
        #expect(pages.prefix(2).allSatisfy { next($0) == .none })
        #expect(next(pages[2]) == .page("\(github)/enterprises/beaver-group/consumed-licenses?page=2"))
    }

    @Test(arguments: [
        ("github3.py__GitHubIterator_catch_etags", "/users?per_page=10&since=19", "/users{?since}"),
        ("pygithub__PaginatedList.testTotalCountWithNoLastPage", "/repositories?per_page=1&since=369", "{?since}"),
    ])
    func aURITemplateStandsBesideTheNextPage(_ name: String, _ path: String, _ template: String) throws {
        let exchange = try exchanges(name)[0]
        let link = try #require(exchange.response.headers["Link"])
        #expect(link.contains("\(template)>; rel=\"first\"") && !link.contains("rel=\"last\""))
        #expect(next(exchange) == .page(github + path))
    }

    @Test func anEmptyPageMayStillHaveANextOne() throws {
        let exchange = try exchanges("pygithub__PaginatedList.testTotalCountWithNoLastPage")[0]
        #expect(try JSON.parse(exchange.response.body).count == 0)
        #expect(next(exchange) != .none)
    }

    @Test func theRecordersOwnAddressIsAForeignOne() throws {
        let searches = try exchanges("hub4j__GHRateLimitTest_testGitHubRateLimit").filter {
            $0.url.contains("/search/")
        }
        #expect(searches.count == 2)
        for search in searches {
            #expect(next(search) == .foreign("on another server (http://localhost:54240)"))
        }
    }
}
