// feedbus: reading values: kinds, numbers, strings, members, pointers.

import FeedbusBase
import FeedbusJSON
import Testing

@Suite("JSONValue")
struct JSONValueTests {
    @Test("Raw text is a slice of the parsed text, without a copy")
    func slices() throws {
        let text: Bytes = #" { "a" : [ 1.0 , "x\n" ] , "b" : { } } "#
        let value = try JSON.parse(text)
        #expect(value.raw.buffer === text.buffer)
        #expect(value["a"]?.raw == #"[ 1.0 , "x\n" ]"#)
        #expect(value["b"]?.raw == "{ }")
        #expect(value["b"]?.count == 0)
        #expect(value["a"]?.elements.map(\.raw) == ["1.0", #""x\n""#])
        #expect(value["c"] == nil)
        #expect(value["a"]?.minified == #"[1.0,"x\n"]"#)
        #expect(value.minified == #"{"a":[1.0,"x\n"],"b":{}}"#)
        let compact: Bytes = #"[{"a":1},[2]]"#
        #expect(try JSON.parse(compact).elements.allSatisfy { $0.minified.buffer === compact.buffer })
    }

    @Test("Kinds")
    func kinds() throws {
        let kinds = try JSON.parse(#"[null,true,false,-1,0,"",[],{}]"#).elements.map(\.kind)
        #expect(kinds == [.null, .bool, .bool, .number, .number, .string, .array, .object])
        let value = try JSON.parse("7")
        #expect(value.string == nil && value.bool == nil && value.count == 0 && !value.isNull)
        #expect(value["a"] == nil)
        #expect(value.elements.map(\.raw).isEmpty && value.members.map(\.key).isEmpty)
    }

    static let integers: [(String, Int?)] = [
        ("0", 0), ("-0", 0), ("12", 12), ("-12", -12), ("9223372036854775807", .max), ("9223372036854775808", nil),
        ("-9223372036854775808", .min), ("-9223372036854775809", nil), ("1.0", nil), ("1e2", nil),
        ("123456789012345678901234567890", nil), ("true", nil), ("\"1\"", nil),
    ]

    @Test("Integers are exact or nil", arguments: integers)
    func integer(_ text: String, _ expected: Int?) throws {
        #expect(try JSON.parse(Bytes(text)).int == expected)
    }

    static let doubles: [(String, Double?)] = [
        ("0", 0), ("1.0", 1), ("-1.5e3", -1500), ("0.1", 0.1), ("1e400", .infinity), ("-1e400", -.infinity),
        ("1e-999", 0),
        ("5e-324", .leastNonzeroMagnitude), ("1.7976931348623157e308", .greatestFiniteMagnitude),
        ("9007199254740993", 9_007_199_254_740_992),
        ("null", nil), ("\"1\"", nil),
    ]

    @Test("Doubles are the nearest ones", arguments: doubles)
    func double(_ text: String, _ expected: Double?) throws {
        #expect(try JSON.parse(Bytes(text)).double == expected)
    }

    static let strings: [(String, String)] = [
        (#""""#, ""), (#""a""#, "a"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
        (#""\u0041\u00e9\u20AC""#, "Aé€"),
        (#""\ud83d\ude00""#, "😀"), (#""x\uD83D\uDE00y""#, "x😀y"), (#""\ud83d""#, "\u{FFFD}"),
        (#""\ude00""#, "\u{FFFD}"),
        (#""\ude00\ud83d""#, "\u{FFFD}\u{FFFD}"), (#""\ud83d\ud83d\ude00""#, "\u{FFFD}😀"), (#""\ud83dx""#, "\u{FFFD}x"),
        (#""\ud83d\n""#, "\u{FFFD}\n"), (#""\ud83d\u0041""#, "\u{FFFD}A"), (#""a\u0000b""#, "a\u{0}b"),
        (#""\\u0041""#, "\\u0041"), ("\"\u{2028}é😀\"", "\u{2028}é😀"),
    ]

    @Test("Strings are decoded", arguments: strings)
    func string(_ text: String, _ expected: String) throws {
        let value = try JSON.parse(Bytes(text))
        #expect(value.string.map { Array($0.unicodeScalars) } == Array(expected.unicodeScalars))
        #expect(value.stringBytes == Bytes(expected))
        // Decoded and quoted again it says the same.
        #expect(try JSON.parse(JSON.quote(expected)).stringBytes == Bytes(expected))
    }

    @Test("A string without escapes is a slice")
    func stringSlices() throws {
        let text: Bytes = #"["plain", "with\tescape"]"#
        let strings = try JSON.parse(text).elements.compactMap(\.stringBytes)
        #expect(strings[0].buffer === text.buffer)
        #expect(strings == ["plain", "with\tescape"])
    }

    @Test("Members: order, repeated keys, escaped keys, no normalisation")
    func members() throws {
        let text = "{\"b\":1,\"a\":2,\"b\":3,\"\\u0063\":4,\"e\u{301}\":5,\"\u{E9}\":6,\"\":7,\"a\\\"\":8,\"\\\\\":9}"
        let value = try JSON.parse(Bytes(text))
        #expect(value.members.map { $0.key.string } == ["b", "a", "b", "c", "e\u{301}", "\u{E9}", "", "a\"", "\\"])
        #expect(value.members.map { $0.value.int } == [1, 2, 3, 4, 5, 6, 7, 8, 9])
        #expect(value["b"]?.int == 1)
        #expect(value["c"]?.int == 4)
        #expect(value["e\u{301}"]?.int == 5)
        #expect(value["\u{E9}"]?.int == 6)
        #expect(value[""]?.int == 7)
        #expect(value["a\""]?.int == 8)
        #expect(value["\\"]?.int == 9)
        #expect(value["\\\\"] == nil)
        #expect(value["\\u0063"] == nil)
        #expect(value.count == 9)
    }

    @Test("Values go on living without their text's other owners")
    func lifetime() throws {
        func make() throws -> JSONValue? {
            try JSON.parse(Bytes("{\"deep\":[{\"text\":\"" + String(repeating: "y", count: 10_000) + "\"}]}"))["deep"]
        }
        let value = try make()
        #expect(value?.elements.first { _ in true }?["text"]?.string?.count == 10_000)
    }
}

@Suite("JSONPointer")
struct JSONPointerTests {
    /// RFC 6901 section 5.
    static let document = #"{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}"#

    static let pointers: [(String, String?)] = [
        ("", document), ("/foo", #"["bar","baz"]"#), ("/foo/0", #""bar""#), ("/foo/1", #""baz""#), ("/", "0"),
        ("/a~1b", "1"),
        ("/c%d", "2"), ("/e^f", "3"), ("/g|h", "4"), ("/i\\j", "5"), ("/k\"l", "6"), ("/ ", "7"), ("/m~0n", "8"),
        ("/foo/2", nil), ("/foo/-", nil), ("/foo/00", nil), ("/foo/01", nil), ("/foo/+1", nil), ("/foo/ 1", nil),
        ("/foo/", nil), ("/foo/99999999999999999999", nil), ("/foo/0/x", nil), ("/a", nil), ("//x", nil),
    ]

    @Test("The cases of RFC 6901 and others", arguments: pointers)
    func resolve(_ pointer: String, _ expected: String?) throws {
        let parsed = try #require(JSONPointer(pointer))
        #expect(parsed.description == pointer)
        #expect(try JSON.parse(Bytes(Self.document))[parsed]?.raw == expected.map { Bytes($0) })
    }

    @Test("What is no pointer", arguments: ["a", "foo/bar", "/~", "/~2", "/a~", "#/a", "~0"])
    func refuse(_ text: String) { #expect(JSONPointer(text) == nil) }

    @Test("~01 is ~1, not a slash")
    func order() {
        #expect(JSONPointer("/~01")?.tokens == ["~1"])
        #expect(JSONPointer(tokens: ["a/b", "~"]).description == "/a~1b/~0")
        #expect(JSONPointer(tokens: ["a"]) == JSONPointer("/a"))
    }
}
