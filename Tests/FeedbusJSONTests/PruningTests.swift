// feedbus: lists with an element that nests too deeply.

import FeedbusBase
import FeedbusJSON
import Testing

struct PruningTests {
    private let deep = String(repeating: "[", count: 1_001) + String(repeating: "]", count: 1_001)

    private func pruned(_ text: String) -> String? { JSON.withoutDeepElements(Bytes(text))?.string }

    @Test func theOtherElementsStay() {
        #expect(pruned("[1,{\"d\":\(deep)},{\"s\":\"],[\\\"\"}]") == "[1,null,{\"s\":\"],[\\\"\"}]")
        #expect(
            pruned("{\"n\":1,\"items\":[ \(deep) ,2],\"more\":[3,\(deep)]}")
                == "{\"n\":1,\"items\":[null,2],\"more\":[3,null]}")
        #expect(
            pruned("[\(String(repeating: "{\"a\":", count: 100_000))1\(String(repeating: "}", count: 100_000)),2]")
                == "[null,2]")
    }

    @Test func whatIsNoListElementIsNotRemoved() {
        #expect(pruned("[1,2]") == nil)
        #expect(pruned(String(repeating: "{\"a\":", count: 1_001) + "1" + String(repeating: "}", count: 1_001)) == nil)
        #expect(pruned("[\(String(repeating: "[", count: 999))\(String(repeating: "]", count: 999))]") == nil)
    }

    @Test(arguments: ["", "]", "}}}", "[", "[[", "\"", "\"\\", "[\"\\", "]]][[[,,,"])
    func anyTextMayCome(text: String) {
        #expect(pruned(text) == nil)
    }
}
