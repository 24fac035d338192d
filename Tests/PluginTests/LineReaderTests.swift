// feedbus: a line of a child as an event.

import FeedbusPlugin
import Lines
import Testing

struct LineReaderTests {
    private func read(_ line: String, id: String? = nil, number: Int = 1, keepsNode: Bool = false) throws -> Event? {
        var reader = LineReader(id: id.flatMap { JSONPointer($0) }, type: "dev.feedbus.line", node: "child")
        switch try reader.read(Bytes(line), number: number, keepsNode: keepsNode) {
        case .event(let event), .data(let event, _): return event
        case nil: return nil
        }
    }

    @Test func aCloudEventKeepsItsAttributes() throws {
        let line = """
            {"specversion":"1.0","id":"7","source":"/a","type":"t","time":"2026-03-01T10:00:00Z","subject":"s", \
            "partial":true,"weight":1.50,"dataschema":"u:x","nothing":null,"Odd_Name":1,"data": {"n": 7.0, "x": [1, 2]}}
            """
        let event = try #require(try read(line))
        #expect(event.id == "7")
        #expect(event.origin.source == "/a")
        #expect(event.origin.type == "t")
        #expect(event.origin.node == "child")
        #expect(event.time == "2026-03-01T10:00:00Z")
        #expect(event.subject == "s")
        #expect(event.data == "{\"n\":7.0,\"x\":[1,2]}")
        #expect(event.attributes.map(\.name) == ["partial", "weight", "dataschema"])
        #expect(event[attribute: "weight"] == "1.50")
    }

    @Test(arguments: [
        "{\"specversion\":\"1.0\",\"id\":\"7\",\"source\":\"/a\"}", "{\"id\":\"7\",\"source\":\"/a\",\"type\":\"t\"}",
        "[9]", "\"x\"",
        "12345678901234567890.5e400", "null",
    ])
    func anythingElseIsData(line: String) throws {
        let event = try #require(try read(line))
        #expect(event.data.string == line)
        #expect(event.origin.type == "dev.feedbus.line")
        #expect(event.origin.source == "exec:child")
    }

    @Test func blankLinesAreNoEvents() throws {
        #expect(try read("") == nil)
        #expect(try read(" \t ") == nil)
    }

    @Test func aByteOrderMarkBeforeTheFirstLineIsNoMistake() throws {
        #expect(try read("\u{FEFF}{\"n\":1}", number: 1)?.data == "{\"n\":1}")
        #expect(throws: LineReader.BadLine.self) { try read("\u{FEFF}{}", number: 2) }
    }

    @Test func idsAreStableAndDifferByPlace() throws {
        let first = try read("{\"n\":1}", number: 1)?.id
        #expect(try read("{\"n\": 1}", number: 1)?.id == first)
        #expect(try read("{\"n\":1}", number: 2)?.id != first)
        #expect(try read("{\"n\":2}", number: 1)?.id != first)
        // A change of this value changes the ids of everybody's events.
        #expect(first == "b614d743a38f3299")
    }

    @Test func idsComeFromThePointer() throws {
        #expect(try read("{\"a\":{\"b\":\"x-1\"}}", id: "/a/b")?.id == "x-1")
        #expect(try read("{\"a\":12.0}", id: "/a")?.id == "12.0")
        #expect(try read("{\"c\":1}", id: "/a")?.id.count == 16)
    }

    @Test func brokenCharactersAreReplacedAndMarked() throws {
        var reader = LineReader(id: nil, type: "t", node: "child")
        let line = Bytes(Array("{\"a\":\"x".utf8) + [0xE2, 0x82] + Array("\"}".utf8))
        guard case .data(let event, _) = try reader.read(line, number: 1) else {
            Issue.record("no event")
            return
        }
        #expect(event.data == "{\"a\":\"x\u{FFFD}\"}")
        #expect(event[attribute: "repairedutf8"] == "true")
    }

    @Test func whatIsNoJSONIsSaidWithItsPlace() {
        #expect {
            _ = try read("{\"n\":x}")
        } throws: { error in
            (error as? LineReader.BadLine)?.reason.contains("column 6") == true
        }
    }

    @Test func aStageKeepsTheNodeThatTheEventNames() throws {
        let line =
            "{\"specversion\":\"1.0\",\"id\":\"7\",\"source\":\"/a\",\"type\":\"t\",\"feedbusnode\":\"rx\",\"recorded\":true}"
        #expect(try read(line, keepsNode: true)?.origin.node == "rx")
        #expect(try read(line)?.origin.node == "child")
        #expect(try read(line)?.origin.recorded == true)
        #expect(try read(line)?.data == "null")
    }
}
