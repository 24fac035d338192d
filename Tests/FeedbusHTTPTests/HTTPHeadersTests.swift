// feedbus: tests of header fields.

import FeedbusHTTP
import Testing

@Suite struct HTTPHeadersTests {
    @Test func namesAreComparedWithoutCaseAndKeepTheirOrder() {
        var headers: HTTPHeaders = ["Accept": "a", "X-One": "1", "accept": "b"]
        #expect(headers["ACCEPT"] == "a")
        #expect(headers.all("Accept") == ["a", "b"])
        headers["aCCept"] = "c"
        #expect(headers.fields == [.init(name: "aCCept", value: "c"), .init(name: "X-One", value: "1")])
        headers.append("X-Two", "2")
        headers["x-one"] = nil
        #expect(headers.map(\.name) == ["aCCept", "X-Two"])
        #expect(headers["missing"] == nil)
    }
}
