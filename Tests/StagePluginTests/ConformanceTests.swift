// feedbus: the texts of the JSON conformance suite on their way through Filter and Map.

import FeedbusPlugin
import FilterPlugin
import FoundationEssentials
import MapPlugin
import Testing

private enum Suite {
    static let folder: String = {
        let environment = ProcessInfo.processInfo.environment
        let package = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let shared = environment["FEEDBUS_SHARED"].flatMap { $0.isEmpty ? nil : $0 } ?? "/\(package)/../shared"
        return shared + "/data/json-conformance"
    }()

    /// Texts as a source hands them on: repaired, checked, minified.
    static let texts: [(name: String, data: Bytes)] = ["test_parsing", "test_transform"].flatMap { name in
        let files = (try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(name)")) ?? []
        return files.sorted().compactMap { file -> (name: String, data: Bytes)? in
            let bytes = FileManager.default.contents(atPath: "\(folder)/\(name)/\(file)").map { [UInt8]($0) } ?? []
            guard let data = try? JSON.minify(JSON.repairUTF8(Bytes(bytes)).0) else { return nil }
            return ("\(name)/\(file)", data)
        }
    }
}

@Suite(
    "JSONTestSuite, through stages",
    .enabled(if: !Suite.texts.isEmpty, "data/json-conformance is missing: set FEEDBUS_SHARED"))
struct StageConformanceTests {
    private func run<S: Stage>(_ type: S.Type, _ with: String) throws -> StageTrace {
        let texts = Suite.texts
        return try StagePluginTests.run(
            type, with, Script(Array(repeating: "", count: texts.count)),
            event: { _, number in Event(origin: testOrigin, id: Bytes("\(number)"), data: texts[number - 1].data) })
    }

    @Test func fastFormsLiveThroughAll() throws {
        let count = Suite.texts.count
        #expect(count > 50)
        #expect(try run(Filter.self, #"{"where": {"pointer": "", "exists": true}}"#).ids.count == count)
        for test in [
            #""equals": "a""#, #""less": 1e400"#, #""greater": "x""#, #""contains": "\u0000""#,
            #""in": [1, "é", null]"#,
            #""starts_with": "\ud83d\ude00""#,
        ] {
            for pointer in ["", "/0", "/a", "/0/a", "/a/0"] {
                let condition = "{\"pointer\": \"\(pointer)\", \(test)}"
                let yes = try run(Filter.self, "{\"where\": \(condition)}").ids.count
                let no = try run(Filter.self, "{\"where\": {\"not\": \(condition)}}").ids.count
                #expect(yes + no == count)
            }
        }
    }

    @Test func pickedValuesAreThoseOfTheDocument() throws {
        let trace = try run(Map.self, #"{"pick": {"all": "", "first": "/0", "a": "/a", "deep": "/0/0"}}"#)
        #expect(trace.events.count == Suite.texts.count)
        for (event, text) in zip(trace.events, Suite.texts) {
            let picked = try JSON.parse(event.data)
            let value = try JSON.parse(text.data)
            #expect(picked["all"]?.raw == text.data, "\(text.name)")
            #expect(picked["first"]?.raw == value[pointer: "/0"]?.raw)
            #expect(picked["a"]?.raw == value[pointer: "/a"]?.raw)
            #expect(picked["deep"]?.raw == value[pointer: "/0/0"]?.raw)
        }
    }

    @Test func jqLivesThroughAll() throws {
        let trace = try run(Map.self, #"{"jq": "."}"#)
        #expect(trace.events.count + trace.refused.count == Suite.texts.count)
        #expect(trace.refused.isEmpty)
        for event in trace.events { try JSON.validate(event.data) }
    }
}

extension JSONValue {
    fileprivate subscript(pointer text: String) -> JSONValue? { JSONPointer(text).flatMap { self[$0] } }
}
