// feedbus: tests of URLs.

import FeedbusBase
import Testing

@testable import FeedbusHTTP

struct HTTPURLTests {
    /// A plain URL is put together here; one that is relative to another, by libcurl. Both must come to the same.
    @Test(arguments: [
        "http://h", "HTTP://H.Example/", "https://h:443/a/../b?x=1#f", "http://h?", "http://h/?", "http://h?a",
        "http://127.1/x", "http://0x7f.1:80", "http://h/%7e/%2F?q=%20+", "http://h:8080?a=b&c", "http://h/a//b/./c",
        "http://h/#x", "https://h/a?b?c#d?e", "http://h/;p=1,2", "http://[::1]:80/x", "http://h./x",
    ])
    func aPlainURLReadsAsLibcurlReadsIt(_ text: String) throws {
        let plain = try HTTPURL(text)
        #expect(try HTTPURL(text, relativeTo: HTTPURL("https://other.example/y?z")) == plain)
        #expect(plain.origin == "\(plain.scheme)://\(plain.host):\(plain.port)")
        #expect(try HTTPURL(plain.text) == plain)
    }

    /// Pieces that parsers have disagreed about, put together at random: whatever is read without libcurl must be read
    /// like that by libcurl.
    @Test(arguments: 0..<20 as Range<UInt64>) func thePlainFormLeavesNoDoubt(_ seed: UInt64) throws {
        let pieces = [
            "http", "https", "HTTP", "ftp", ":", "/", "//", "://", "@", "?", "#", "%", "%2e", "%2E", "%00", "..", ".",
            "\\",
            " ", "a", "A", "h.example", "127.0.0.1", "127.1", "0x7f", "017", "256", "1.2.3.4.5", "[::1]", "-", "_",
            "80",
            "443", "0", "65536", "080", "user:pass", "\t", "é", "xn--a", "&", "=", ";", "+", "a..b", "1", "localhost",
        ]
        let base = try HTTPURL("https://other.example/y?z")
        var random = SplitMix64(seed: seed)
        for _ in 0..<4_000 {
            var text =
                Int.random(in: 0..<4, using: &random) == 0
                ? "" : ["http://", "https://"].randomElement(using: &random)!
            for _ in 0..<Int.random(in: 1...6, using: &random) { text += pieces.randomElement(using: &random)! }
            guard text.contains("://"), let plain = try? HTTPURL(text) else { continue }
            #expect(try HTTPURL(text, relativeTo: base) == plain, "\(text)")
        }
    }

    @Test func thePartsOfAURL() throws {
        let url = try HTTPURL("https://api.example.com/a/b?c=1&d=%20")
        #expect(url.origin == "https://api.example.com:443" && url.host == "api.example.com" && url.port == 443)
        #expect(url.path == "/a/b" && url.query == "c=1&d=%20" && url.endpoint == "https://api.example.com:443/a/b")
        #expect(url.queryItems.map(\.name) == ["c", "d"])
        let bare = try HTTPURL("http://127.0.0.1:8080/")
        #expect(bare.origin == "http://127.0.0.1:8080" && bare.path == "/" && bare.query == nil)
    }

    @Test func whatIsNotEncodedIsEncoded() throws {
        #expect(try HTTPURL("http://h/a b?ü=1").text == "http://h/a%20b?%c3%bc=1")
    }

    @Test(arguments: ["", "h", "ftp://h/", "http://", "/x", "http://h:x/", "http://h:99999/", "file:///x"])
    func whatIsNoURLIsRefused(_ text: String) {
        #expect(throws: FeedbusError.self) { try HTTPURL(text) }
    }
}
