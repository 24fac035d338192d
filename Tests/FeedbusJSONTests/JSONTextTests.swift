// feedbus: minify, quote and repair.

import FeedbusBase
import FeedbusJSON
import Testing

@Suite("JSON texts")
struct JSONTextTests {
    @Test("minify removes blanks between tokens only")
    func minify() throws {
        let text: Bytes = "\n { \"a b\" :\t[ 1.0 , -0.0e+00 ,\r\n \" \\n \\u0020 \" ] , \"a b\" : { } }  "
        #expect(try JSON.minify(text) == "{\"a b\":[1.0,-0.0e+00,\" \\n \\u0020 \"],\"a b\":{}}")
        #expect(try JSON.minify(" 1 ") == "1")
    }

    @Test("minify gives back the same slice where nothing is to be removed")
    func minifyIdentity() throws {
        for text: Bytes in ["1", "\" \"", "{\"a\":[1,\" x \",{}],\"b\":null}", "[]", "-1.5e+3"] {
            let minified = try JSON.minify(text)
            #expect(minified == text)
            #expect(minified.buffer === text.buffer)
            #expect(try JSON.validate(text))
        }
        for text: Bytes in [" 1", "1 ", "[ ]", "[1 ,2]", "{\"a\": 1}", "{\"a\" :1}", "{\"a\":1 }", "\"a\"\n"] {
            #expect(try JSON.validate(text) == false)
        }
    }

    @Test("minify of long texts, and of slices")
    func minifyLong() throws {
        let spaced = Bytes(
            "xx[" + (0..<10_000).map { " { \"n\" : \($0) , \"s\" : \"a  b\" } " }.joined(separator: " ,\n") + "]xx")
        let tight = Bytes("[" + (0..<10_000).map { "{\"n\":\($0),\"s\":\"a  b\"}" }.joined(separator: ",") + "]")
        #expect(try JSON.minify(spaced[2..<spaced.count - 2]) == tight)
    }

    @Test("quote escapes what must be, and only that")
    func quote() throws {
        #expect(JSON.quote("") == #""""#)
        #expect(JSON.quote("a\"b\\c/") == #""a\"b\\c/""#)
        #expect(
            JSON.quote("\u{0}\u{1}\u{8}\t\n\u{B}\u{C}\r\u{1F}\u{7F}")
                == "\"\\u0000\\u0001\\b\\t\\n\\u000b\\f\\r\\u001f\u{7F}\"")
        #expect(JSON.quote("é\u{2028}😀") == "\"é\u{2028}😀\"")
        for value in (0..<0x300).compactMap({ Unicode.Scalar(UInt32($0)) }) {
            #expect(try JSON.parse(JSON.quote("x\(value)y")).string == "x\(value)y")
        }
        var writer = ByteWriter()
        writer.appendJSONString(Bytes([0x61, 0xFF, 0x22, 0x62]))
        #expect(writer.finish() == "\"a\u{FFFD}\\\"b\"")
    }

    @Test("repairUTF8 replaces each maximal subpart (Unicode 15, section 3.9)")
    func repair() {
        let valid: Bytes = "[\"é😀\u{0}\"]"
        let same = JSON.repairUTF8(valid)
        #expect(!same.repaired && same.0.buffer === valid.buffer)
        let broken = Bytes([0x61, 0xF1, 0x80, 0x80, 0xE1, 0x80, 0xC2, 0x62, 0x80, 0x63, 0x80, 0xBF, 0x64])
        let repaired = JSON.repairUTF8(broken)
        #expect(repaired.repaired)
        #expect(repaired.0 == "a\u{FFFD}\u{FFFD}\u{FFFD}b\u{FFFD}c\u{FFFD}\u{FFFD}d")
        #expect(JSON.repairUTF8(Bytes([0x22, 0xC0, 0xAF, 0x22])).0 == "\"\u{FFFD}\u{FFFD}\"")
        #expect(!JSON.repairUTF8(Bytes()).repaired)
    }

    @Test("A text repaired in one place keeps the rest")
    func repairThenParse() throws {
        let text = Bytes([UInt8]("{\"a\":1.00,\"b\":\"x".utf8) + [0xE2, 0x82] + [UInt8]("y\",\"a\":2}".utf8))
        #expect(mistake(in: text)?.message == "invalid UTF-8")
        let (repaired, isRepaired) = JSON.repairUTF8(text)
        #expect(isRepaired)
        #expect(try JSON.minify(repaired) == "{\"a\":1.00,\"b\":\"x\u{FFFD}y\",\"a\":2}")
    }
}
