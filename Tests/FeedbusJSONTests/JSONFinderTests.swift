// feedbus: values found by pointer without a document.

import FeedbusBase
import FeedbusJSON
import Testing

/// Every pointer into a value, up to a number of them.
private func pointers(
    into value: JSONValue, _ found: inout [JSONPointer], limit: Int, _ tokens: [String] = []
) {
    guard found.count < limit, tokens.count < 200 else { return }
    found.append(JSONPointer(tokens: tokens))
    for (key, member) in value.members { pointers(into: member, &found, limit: limit, tokens + [key.string]) }
    for (index, element) in value.elements.enumerated() {
        pointers(into: element, &found, limit: limit, tokens + ["\(index)"])
    }
}

/// The finder and the document agree about these pointers, asked one by one and all at once.
private func expectAgreement(_ text: Bytes, _ pointers: [JSONPointer]) throws {
    let value = try JSON.parse(text)
    let wanted = pointers.map { value[$0]?.raw }
    #expect(JSONFinder(pointers).values(in: text) == wanted)
    for (pointer, wanted) in zip(pointers, wanted) {
        #expect(JSONFinder([pointer]).values(in: text) == [wanted], "\(pointer)")
    }
}

struct JSONFinderTests {
    private func found(_ text: String, _ pointers: String...) -> [String?] {
        JSONFinder(pointers.map { JSONPointer($0)! }).values(in: Bytes(text)).map { $0?.string }
    }

    @Test func findsWhatIsThere() {
        let text = #"{"a":{"b":[1,{"c":"x"}],"d":null},"e":-1.50,"f":"\"]}"}"#
        #expect(found(text, "/a/b/1/c", "/e", "/f", "/a/d") == [#""x""#, "-1.50", #""\"]}""#, "null"])
        #expect(found(text, "", "/a", "/a/b") == [text, #"{"b":[1,{"c":"x"}],"d":null}"#, #"[1,{"c":"x"}]"#])
        #expect(
            found(text, "/e", "/e", "/nothing", "/a/b/2", "/a/b/-", "/a/b/01", "/e/x") == [
                "-1.50", "-1.50", nil, nil, nil, nil, nil,
            ])
    }

    @Test func theFirstOfRepeatedKeysCounts() {
        #expect(found(#"{"a":1,"a":2}"#, "/a") == ["1"])
        #expect(found(#"{"a":{"x":1},"a":{"y":2}}"#, "/a/y", "/a/x") == [nil, "1"])
        #expect(found(#"{"\u0061":1,"a":2}"#, "/a") == ["1"])
        #expect(found(#"{"a":1,"\u0061":2,"b":3}"#, "/a", "/b") == ["1", "3"])
    }

    @Test func keysAreComparedDecoded() {
        #expect(
            found(#"{"a\/b":1,"m~n":2,"":3,"\ud83d\ude00":4,"\ud800":5}"#, "/a~1b", "/m~0n", "/", "/😀", "/\u{FFFD}")
                == ["1", "2", "3", "4", "5"])
    }

    @Test func blanksBetweenTokensAreSkipped() {
        #expect(found(" { \"a\" :\n [ 1 ,\t2 ] , \"b\" : { } } ", "/a/1", "/b", "/c") == ["2", "{ }", nil])
    }

    @Test func wholeTexts() {
        #expect(found("7", "", "/a") == ["7", nil])
        #expect(found("[]", "", "/0") == ["[]", nil])
        #expect(found(#""x""#, "") == [#""x""#])
        #expect(found("", "", "/a") == [nil, nil])
    }

    @Test func longStringsAndContainersAreSkippedByBlocks() throws {
        // Quotes, backslashes and brackets at every place of a block of 64 bytes.
        for length in 0..<200 {
            let filler = String(repeating: "x", count: length)
            for trap in [#"\""#, #"\\"#, "]", "}", "{[", #"\\\""#, #"\\\\"#] {
                let text = "{\"skip\":[{\"s\":\"\(filler)\(trap)\"},[\"\(trap)\(filler)\"]],\"a\":1}"
                #expect(found(text, "/a") == ["1"], "\(length) \(trap)")
                #expect(
                    found(text, "/skip/1/0", "/skip/0/s").map { $0?.count } == [
                        filler.count + trap.count + 2, filler.count + trap.count + 2,
                    ])
            }
        }
    }

    @Test func deepTexts() {
        let deep = String(repeating: "[", count: 1000) + String(repeating: "]", count: 1000)
        #expect(found("{\"d\":\(deep),\"a\":1}", "/a", "/d" + String(repeating: "/0", count: 999)) == ["1", "[]"])
    }

    @Test func manyPointersAtOnce() throws {
        let text = Bytes("{" + (0..<300).map { "\"k\($0)\":{\"v\":\($0)}" }.joined(separator: ",") + "}")
        let finder = JSONFinder((0..<300).reversed().map { JSONPointer("/k\($0)/v")! })
        #expect(finder.values(in: text).map { $0?.string } == (0..<300).reversed().map { "\($0)" })
    }

    @Test func agreesWithTheDocumentOnRandomTexts() throws {
        var random = SplitMix64(seed: 7)
        for _ in 0..<300 {
            var writer = ByteWriter()
            randomValue(&random, depth: 5, into: &writer)
            let text = writer.finish()
            var all: [JSONPointer] = []
            pointers(into: try JSON.parse(text), &all, limit: 60)
            all.append(JSONPointer("/a/b/c")!)
            try expectAgreement(text, all.shuffled(using: &random))
        }
    }

    /// Texts that are not valid give nonsense, but never a crash or a place outside.
    @Test func brokenTextsAreSurvived() {
        var random = SplitMix64(seed: 11)
        let finder = JSONFinder(["", "/a", "/a/b", "/0", "/a/0/b"].map { JSONPointer($0)! })
        let pieces = ["{", "}", "[", "]", "\"", "\\", ",", ":", "\"a\"", "\"b\"", "1", " ", "\\u12", "\"a\":", "true"]
        for _ in 0..<20_000 {
            var text = ""
            for _ in 0..<Int.random(in: 0..<100, using: &random) { text += pieces.randomElement(using: &random)! }
            _ = finder.values(in: Bytes(text))
        }
    }

    private func randomValue(_ random: inout SplitMix64, depth: Int, into writer: inout ByteWriter) {
        let texts = [#""x""#, #""\\""#, #""\"""#, #""]}""#, "-1e5", "true", "null", "0", #""ü€😀""#, #""\u00e9\n""#]
        switch Int.random(in: 0..<(depth > 0 ? 6 : 3), using: &random) {
        case 3, 4:
            let keys = ["a", "b", "c", #"\u0061"#, "a/b", "~", "", "longer key than sixteen bytes", #"k\\"#]
            writer.append("{" as StaticString)
            for index in 0..<Int.random(in: 0..<8, using: &random) {
                if index > 0 { writer.append("," as StaticString) }
                writer.append("\"\(keys.randomElement(using: &random)!)\":")
                randomValue(&random, depth: depth - 1, into: &writer)
            }
            writer.append("}" as StaticString)
        case 5:
            writer.append("[" as StaticString)
            for index in 0..<Int.random(in: 0..<8, using: &random) {
                if index > 0 { writer.append("," as StaticString) }
                randomValue(&random, depth: depth - 1, into: &writer)
            }
            writer.append("]" as StaticString)
        default: writer.append(texts.randomElement(using: &random)!)
        }
    }
}

@Suite(
    "JSONTestSuite, by pointer",
    .enabled(if: SharedData.exists(SharedData.conformance), "data/json-conformance is missing: set FEEDBUS_SHARED"))
struct JSONFinderConformanceTests {
    private static let names = ["test_parsing", "test_transform"].flatMap { folder in
        SharedData.files(in: "\(SharedData.conformance)/\(folder)").map { "\(folder)/\($0)" }
    }

    @Test("The finder and the document agree", arguments: names)
    func agree(_ name: String) throws {
        let text = Bytes(SharedData.read("\(SharedData.conformance)/\(name)"))
        let few = ["", "/a", "/0", "/a/b", "/0/0", "/a/0", "/\u{FFFD}"].map { JSONPointer($0)! }
        guard let value = try? JSON.parse(text) else {
            // Nobody gives it such a text; it lives through it all the same.
            _ = JSONFinder(few).values(in: text)
            return
        }
        var all = few
        pointers(into: value, &all, limit: 40)
        try expectAgreement(text, all)
    }
}
