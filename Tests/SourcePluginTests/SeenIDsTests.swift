// feedbus: tests of the memory of emitted ids, and of saved text.

import FeedbusPlugin
import Polling
import Testing

@Suite struct SeenIDsTests {
    @Test func forgetsTheOldestBeyondItsLimit() {
        var seen = SeenIDs(limit: 3)
        seen.insert(["9", "10", "9", "8"])
        #expect(seen.count == 3)
        seen.insert(["7"])
        #expect(!seen.contains("9") && seen.contains("10") && seen.contains("8") && seen.contains("7"))
    }

    @Test func whatIsStillListedCountsAsNewest() {
        var seen = SeenIDs(limit: 4, ["1", "2", "3"])
        seen.insert(["1", "4", "5", "1"])
        #expect(!seen.contains("2") && ["3", "1", "4", "5"].allSatisfy(seen.contains) && seen.count == 4)
        let before = seen
        seen.insert(["5", "3"])
        #expect(seen == before)
        seen.insert(["3", "6"])
        #expect(seen.contains("3") && seen.contains("6") && !seen.contains("1") && seen.count == 4)
    }

    @Test func comparesTextAndNotNumbers() {
        let seen = SeenIDs(limit: 3, ["010"])
        #expect(!seen.contains("10") && seen.contains("010"))
    }

    @Test func survivesSaving() throws {
        let seen = SeenIDs(limit: 5, ["a\"b", "é", "3"])
        var writer = ByteWriter()
        seen.append(to: &writer)
        #expect(SeenIDs(limit: 5, json: try JSON.parse(writer.finish())) == seen)
        #expect(SeenIDs(limit: 5, json: try JSON.parse("{}")) == nil)
        #expect(SeenIDs(limit: 5, json: nil) == nil)
    }

    @Test func savedTextHasAVersion() throws {
        let text = SavedText.make([(key: "a", value: SavedText.array(["1", "\"x\""]))])
        #expect(text == "{\"v\":1,\"a\":[1,\"x\"]}")
        #expect(SavedText.read(text)?["a"]?.count == 2)
        #expect(SavedText.read("{\"v\":2}") == nil)
        #expect(SavedText.read("nonsense") == nil)
        #expect(SavedText.object([]) == "{}")
    }

    @Test func repairedTextIsMarkedWhereItWasRepaired() throws {
        let body = Bytes(Array("[\"a\", \"b".utf8) + [0xFF] + Array("\"]".utf8))
        let read = try JSONBody(HTTPResponse(status: 200, body: body, url: "u"))
        #expect(read.isRepaired)
        let elements = Array(read.root.elements)
        #expect(read.attributes(of: elements[0].raw).isEmpty)
        #expect(read.attributes(of: elements[1].raw).map(\.name) == ["repairedutf8"])
    }

    @Test func anAnswerThatIsNoJSONIsWorthAnotherTry() {
        #expect {
            try JSONBody(HTTPResponse(status: 200, body: "<html>", url: "u"))
        } throws: { ($0 as? FeedbusError)?.isRetriable == true }
    }

    @Test func identifiersAreTextOrIntegers() throws {
        let values = try JSON.parse("[\"a\", \"\", 12, 1.5, null, {}]").elements.map(\.identifier)
        #expect(values == ["a", nil, "12", nil, nil, nil])
    }
}
