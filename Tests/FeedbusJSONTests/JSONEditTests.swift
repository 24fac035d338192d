// feedbus: edits change what they should and not a byte more.

import FeedbusBase
import FeedbusJSON
import Testing

@Suite("JSONEdit")
struct JSONEditTests {
    static let appends: [(String, [(String, String)], String)] = [
        ("{}", [("a", "1")], #"{"a":1}"#),
        ("{ \n }", [("a", "1"), ("b", "[ ]")], "{\"a\":1,\"b\":[ ] \n }"),
        (#"{"x":1}"#, [("a", "\"v\"")], #"{"x":1,"a":"v"}"#),
        ("{ \"x\" : 1.0 \n}", [("a", "2")], "{ \"x\" : 1.0,\"a\":2 \n}"),
        (#"{"x":{"y":[]} }"#, [("a", "2")], #"{"x":{"y":[]},"a":2 }"#),
        (#"{"x":"}" }"#, [("a", "2")], #"{"x":"}","a":2 }"#),
        (#"{ "x" : 1 , "y" : 2 }"#, [("x", "[3]")], #"{ "x" : [3] , "y" : 2 }"#),
        (#"{"x":1,"y":2}"#, [("z", "0"), ("y", "5"), ("x", "4")], #"{"x":4,"y":5,"z":0}"#),
        (#"{"\u0078":1e400}"#, [("x", "5")], #"{"\u0078":5}"#),
        (#"{"x":1,"y":2,"x":3}"#, [("x", "9")], #"{"x":9,"y":2,"x":9}"#),
        (#"{"a":1}"#, [("b", "1"), ("b", "2")], #"{"a":1,"b":2}"#),
        (#"{"a":1}"#, [("a", "1"), ("a", "2")], #"{"a":2}"#),
        (#"{"a":1}"#, [("q\"\n", "1")], #"{"a":1,"q\"\n":1}"#),
        (#"{"a":1}"#, [], #"{"a":1}"#),
        ("[1]", [("a", "1")], "[1]"),
    ]

    @Test("append replaces in place or adds at the end", arguments: appends)
    func append(_ text: String, _ members: [(String, String)], _ expected: String) throws {
        let value = try JSON.parse(Bytes("  \(text) "))
        let edited = JSONEdit.append(members.map { (key: $0.0, value: Bytes($0.1)) }, to: value)
        #expect(edited == Bytes(expected))
        _ = try JSON.parse(edited)
    }

    @Test("append to an object inside a text gives that object's text")
    func appendInside() throws {
        let value = try JSON.parse(#"[{"a":1.50 },{"b":2}]"#)
        #expect(
            value.elements.map { JSONEdit.append([("n", "true")], to: $0) } == [
                #"{"a":1.50,"n":true }"#, #"{"b":2,"n":true}"#,
            ])
    }

    static let sets: [(String, String, String, String?)] = [
        (#"{"a":1}"#, "", "[2]", "[2]"),
        (#"{ "a" : { "b" : [ 1 , 2.0 ] } }"#, "/a/b/1", "\"x\"", #"{ "a" : { "b" : [ 1 , "x" ] } }"#),
        (#"{ "a" : { "b" : [ 1 , 2.0 ] } }"#, "/a/b/2", "3", #"{ "a" : { "b" : [ 1 , 2.0,3 ] } }"#),
        (#"{ "a" : { "b" : [ 1 , 2.0 ] } }"#, "/a/b/-", "3", #"{ "a" : { "b" : [ 1 , 2.0,3 ] } }"#),
        (#"{ "a" : { "b" : [ ] } }"#, "/a/b/0", "3", #"{ "a" : { "b" : [3 ] } }"#),
        (#"{ "a" : { "b" : [ 1 ] } }"#, "/a/c", "3", #"{ "a" : { "b" : [ 1 ],"c":3 } }"#),
        (#"{ "a" : { "b" : [ 1 ] } }"#, "/a/b/5", "3", nil), (#"{"a":1}"#, "/b/c", "3", nil),
        (#"{"a":1}"#, "/a/c", "3", nil),
        (#"{"a":1}"#, "/x~1y", "3", #"{"a":1,"x/y":3}"#), ("7", "/a", "3", nil), ("7", "", "3", "3"),
        (#"{"p":{"k":1,"k":2},"p":{"k":3}}"#, "/p/k", "0", #"{"p":{"k":0,"k":0},"p":{"k":3}}"#),
    ]

    @Test("set replaces in place or adds to the parent", arguments: sets)
    func set(_ text: String, _ pointer: String, _ value: String, _ expected: String?) throws {
        let edited = JSONEdit.set(try #require(JSONPointer(pointer)), to: Bytes(value), in: try JSON.parse(Bytes(text)))
        #expect(edited == expected.map { Bytes($0) })
    }

    @Test("What is not edited stays byte for byte")
    func rest() throws {
        let odd =
            #"{ "n":1e400 ,"s":"\ud800\u0041\/","d":1,"d":2 , "x": {"y" :[ ]}, "big":123456789012345678901234567890"#
        let value = try JSON.parse(Bytes(odd + " }"))
        #expect(JSONEdit.append([("new", "0.10")], to: value) == Bytes(odd + ",\"new\":0.10 }"))
        let changed = JSONEdit.set(JSONPointer("/x/y")!, to: "1", in: value)
        #expect(changed == Bytes(odd.split(separator: "[ ]").joined(separator: "1") + " }"))
    }
}
