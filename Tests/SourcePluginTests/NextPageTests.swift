// feedbus: tests of the Link header.

import FeedbusPlugin
import GitHubAPI
import Polling
import Testing

@Suite struct NextPageTests {
    private func next(_ value: String, from url: String = "https://api.github.com/repos/a/b/events") -> NextPage {
        NextPage(["link": value], from: url, service: "https://api.github.com")
    }

    @Test func findsNextAmongOthers() {
        let text =
            "<https://api.github.com/events?page=1>; rel=\"prev\", <https://api.github.com/repositories/1/events?page=3>; rel=\"next\","
            + " <https://api.github.com/events?page=10>; rel=\"last\""
        #expect(next(text) == .page("https://api.github.com/repositories/1/events?page=3"))
    }

    @Test func noNextNoPage() {
        #expect(next("<https://api.github.com/events?page=1>; rel=\"prev\"") == .none)
        #expect(next("") == .none)
        #expect(next("nonsense; rel=\"next\"") == .none)
        #expect(NextPage([:], from: "https://api.github.com/events", service: "https://api.github.com") == .none)
    }

    @Test func targetsMayHoldCommasAndSemicolons() {
        #expect(
            next("<https://api.github.com/x?q=a,b;c>; title=\"a, rel=next\"; rel=\"first\", </y?q=1,2>; rel=next")
                == .page("https://api.github.com/y?q=1,2"))
    }

    @Test func severalRelationsInOneValue() {
        #expect(next("</p2>; REL=\"last next\"") == .page("https://api.github.com/p2"))
        #expect(next("</p2>; rel=\"nextish\"") == .none)
    }

    @Test func relativeTargets() {
        #expect(
            next("<?page=2>; rel=next", from: "https://api.github.com/e?page=1")
                == .page("https://api.github.com/e?page=2"))
        #expect(next("<//api.github.com/e>; rel=next") == .page("https://api.github.com/e"))
    }

    @Test(arguments: [
        "https://evil.example/events", "http://api.github.com/events", "https://api.github.com:444/events",
        "https://api.github.com.evil.example/e", "https://api.github.com@evil.example/e", "//evil.example/e",
        "https://evil.example\\@api.github.com/e", "ftp://api.github.com/e",
        // Ends the host for one reader, and is a user's name for another: libcurl would ask evil.example.
        "https://api.github.com\\@evil.example/e", "https://api.github.com:443\\@evil.example/e",
        "\\\\evil.example\\e", "/\\evil.example/e", "https:\\\\evil.example/e", "https://x@api.github.com/e",
        "https://x:y@api.github.com/e", "https:/evil.example/e", "///evil.example/e",
        "https://api.github.com\t@evil.example/e", "https://api.github.com%40evil.example/e",
        "https://api.github.com @evil.example/e", "/e\u{1}", "  https://evil.example/e",
    ])
    func anotherOriginIsForeign(_ target: String) {
        guard case .foreign = next("<\(target)>; rel=\"next\"") else {
            Issue.record("\(target) must not be followed")
            return
        }
    }

    @Test func whatIsSaidOfAForeignLinkHoldsNoSecret() {
        #expect(
            next("<https://u:pass@evil.example/k/hush?key=hush>; rel=next")
                == .foreign("at an address that cannot be trusted or read"))
        #expect(
            next("<https://evil.example/k/hush?key=hush>; rel=next")
                == .foreign("on another server (https://evil.example:443)"))
    }

    /// RFC 3986, sections 5.3 and 5.4.
    @Test(arguments: [
        ("items?page=2", "/api/v1/items?page=2"), ("./items?page=2", "/api/v1/items?page=2"),
        ("../v2/items", "/api/v2/items"), ("/x", "/x"), ("?page=2", "/api/v1/items?page=2"),
        ("", "/api/v1/items?page=1"),
        ("#top", "/api/v1/items?page=1"), ("/items?page=2&f=http://x.y/z", "/items?page=2&f=http://x.y/z"),
        ("items?f=http://x.y/z", "/api/v1/items?f=http://x.y/z"), ("?f=//x.y/", "/api/v1/items?f=//x.y/"),
        ("//api.github.com/e", "/e"), (" /x ", "/x"), ("/x#part", "/x"), ("/a b", "/a%20b"),
    ]) func relativeTargetsAreOfTheSameService(_ target: String, _ expected: String) {
        let page = NextPage(
            target, from: "https://api.github.com/api/v1/items?page=1", service: "https://api.github.com")
        #expect(page == .page("https://api.github.com" + expected))
    }

    @Test func theDefaultPortIsTheSameOrigin() {
        #expect(next("<https://API.github.com:443/e>; rel=next") == .page("https://API.github.com:443/e"))
    }

    @Test func queriesAreEscaped() {
        #expect(
            GitHubService.query(["q": "language:swift stars:>100", "é": "a&b=c+d"])
                == "q=language:swift%20stars:%3E100&%C3%A9=a%26b%3Dc%2Bd")
    }
}
