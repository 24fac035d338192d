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

    @Test func whatIsNotEncodedIsEncoded() throws {
        #expect(try HTTPURL("http://h/a b?ü=1").text == "http://h/a%20b?%c3%bc=1")
    }

    @Test(arguments: ["", "h", "ftp://h/", "http://", "/x", "http://h:x/", "http://h:99999/", "file:///x"])
    func whatIsNoURLIsRefused(_ text: String) {
        #expect(throws: FeedbusError.self) { try HTTPURL(text) }
    }
}
