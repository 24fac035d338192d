// feedbus: what is JSON, what is not, and where the mistake stands.

import FeedbusBase
import FeedbusJSON
import Testing

@Suite("JSON.parse")
struct JSONParseTests {
    static let accepted: [String] = [
        "0", "-0", "1.5", "-1.5e+300", "1E5", "1e-999", "1e400", "-1e99999999999999999999", "0.1e0",
        String(repeating: "9", count: 5000), "1." + String(repeating: "3", count: 5000),
        "true", "false", "null", "\"\"", "\"a\"", "[]", "{}", "[[]]", "{\"\":{}}", " [ ] ", "\t\r\n {\n}\r\n",
        #"["\ud800"]"#, #"["\udc00\ud800"]"#, #""\uD83D\ude00""#, #""\u0000""#, #""\"\\\/\b\f\n\r\t""#,
        "\"\u{2028}\u{2029}\u{7F}\u{FEFF}\u{10FFFF}\"", #"{"a":1,"a":2}"#, #"[1,"2",{"3":4},[5],null,true,false]"#,
        "\"\(String(repeating: "x", count: 300))\"", "[\"\\\\\"]", "[\"\\\\\\\"\"]",
        String(repeating: "[", count: 1000) + String(repeating: "]", count: 1000),
        String(repeating: "{\"a\":", count: 999) + "{}" + String(repeating: "}", count: 999),
    ]

    @Test("Valid texts are accepted and keep their bytes", arguments: accepted)
    func accepts(_ text: String) throws {
        let value = try JSON.parse(Bytes(text))
        #expect(value.raw == trimmed(Bytes(text)))
        walkAll(value)
        try checkMinified(Bytes(text))
        try JSON.validate(Bytes(text))
    }

    static let refused: [(text: String, offset: Int, words: String)] = [
        ("", 0, "no value"), (" \n", 2, "no value"), ("\u{FEFF}[]", 0, "BOM"), ("[", 1, "unexpected end"),
        ("[1", 2, "unexpected end"), ("[1,", 3, "unexpected end"), ("[1,]", 3, "a value"), ("[,1]", 1, "a value"),
        ("[1 2]", 3, "\",\""), ("[1}", 2, "\"]\""), ("{", 1, "a key"), ("{\"a\"", 4, "\":\""),
        ("{\"a\":}", 5, "a value"),
        ("{\"a\":1,}", 7, "a key"), ("{\"a\" 1}", 5, "\":\""), ("{a:1}", 1, "a key"), ("{1:1}", 1, "a key"),
        ("{\"a\":1 \"b\":2}", 7, "\",\""), ("[] []", 3, "the end"), ("1 1", 2, "the end"), ("]", 0, "a value"),
        ("01", 1, "leading zero"), ("-", 1, "a digit"), ("-a", 1, "a digit"), ("+1", 0, "a value"),
        (".5", 0, "a value"),
        ("1.", 2, "a digit"), ("1.e1", 2, "a digit"), ("1e", 2, "a digit"), ("1e+", 3, "a digit"),
        ("0x1", 1, "the end"),
        ("1a", 1, "the end"), ("[1a]", 2, "\",\""), ("NaN", 0, "a value"), ("Infinity", 0, "a value"),
        ("tru", 3, "true"),
        ("truE", 3, "true"), ("truey", 4, "the end"), ("nul1", 3, "null"), ("[fals]", 5, "false"),
        ("'a'", 0, "a value"),
        ("\"", 0, "does not end"), ("[\"a]", 1, "does not end"), ("\"\\\"", 0, "does not end"), (#""\x""#, 1, "escape"),
        (#""\u12g4""#, 1, "escape"), (#""\u12""#, 1, "escape"), (#"["ok","\u"]"#, 7, "escape"),
        ("\"a\u{0}b\"", 2, "U+0000"), ("\"\t\"", 1, "U+0009"), ("[\"a\nb\"]", 3, "U+000A"), ("[1]\u{0C}", 3, "U+000C"),
        ("[1,\u{0C}2]", 3, "U+000C"), ("[1\u{1A}2]", 2, "U+001A"), ("\u{0}", 0, "U+0000"), ("[1]\u{A0}", 3, "\u{A0}"),
        ("// a\n[]", 0, "a value"), ("[\\\"a\"]", 1, "\\"), ("\"a\"b", 3, "the end"), ("\"a\"\"b\"", 3, "the end"),
        ("1\"a\"", 1, "the end"), ("[1\"a\"]", 2, "\",\""), ("{\"a\":\"b\"c}", 8, "\",\""),
        ("{\"a\":1}}", 7, "the end"),
        (String(repeating: "[", count: 1001) + String(repeating: "]", count: 1001), 1000, "deeper"),
        (String(repeating: "{\"a\":", count: 1000) + "[]" + String(repeating: "}", count: 1000), 5000, "deeper"),
    ]

    @Test("Other texts are refused, with the place and words for it", arguments: refused)
    func refuses(_ text: String, _ offset: Int, _ words: String) {
        let error = mistake(in: Bytes(text))
        #expect(error?.offset == offset)
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "accepted")")
        #expect(throws: JSONError.self) { try JSON.validate(Bytes(text)) }
        #expect(throws: JSONError.self) { try JSON.minify(Bytes(text)) }
    }

    @Test("Bytes that are no UTF-8 are refused at their place")
    func refusesInvalidUTF8() {
        let sequences: [[UInt8]] = [
            [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF0, 0x80, 0x80, 0x80],
            [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF], [0xC3], [0xE2, 0x82], [0xF0, 0x9F, 0x98],
        ]
        for sequence in sequences {
            let error = mistake(in: Bytes([0x5B, 0x22, 0x61] + sequence + [0x22, 0x5D]))
            #expect(error == JSONError("invalid UTF-8", offset: 3), "\(sequence)")
        }
    }

    @Test("A slice in the middle of a buffer is read alone, whatever stands around it", arguments: 1...200)
    func readsOnlyTheSlice(_ length: Int) throws {
        // Neither the digits nor the quotes around the slice may become part of it.
        for around in [UInt8(ascii: "1"), UInt8(ascii: "\""), UInt8(ascii: "\\"), 0xFF] {
            let padding = [UInt8](repeating: around, count: 70)
            let inner = [UInt8](repeating: UInt8(ascii: "7"), count: length)
            let number = Bytes(padding + inner + padding)[70..<70 + length]
            #expect(try JSON.parse(number).raw == Bytes(inner))
            let text = [UInt8]("[\"".utf8) + inner + [UInt8]("\"]".utf8)
            let array = Bytes(padding + text + padding)[70..<70 + text.count]
            #expect(try JSON.parse(array).elements.map(\.raw) == [Bytes(text)[1..<text.count - 1]])
            #expect(mistake(in: array[0..<array.count - 2])?.message == "string that does not end")
        }
    }

    @Test("A mistake's place is a line and a column of Unicode scalars")
    func positions() {
        let text: Bytes = "{\n  \"ключ\": \"😀\", x\n}"
        let error = mistake(in: text)
        #expect(error?.position(in: text) == SourcePosition(line: 2, column: 16))
        #expect(JSONError("", offset: 1000).position(in: text) == SourcePosition(line: 3, column: 2))
        #expect(JSONError("", offset: 0).position(in: text) == SourcePosition(line: 1, column: 1))
    }

    @Test(
        "Texts of every size around the block sizes of vector code",
        arguments: [63, 64, 65, 127, 128, 129, 70_000, 5_000_000])
    func sizes(_ size: Int) throws {
        let text = Bytes("[\"" + String(repeating: "é", count: size / 2) + "\",1]")
        let value = try JSON.parse(text)
        #expect(value.count == 2)
        #expect(value.raw == text)
        #expect(mistake(in: text[0..<text.count - 1])?.offset == text.count - 1)
    }

    @Test("Parsing on many threads at once")
    func concurrency() async throws {
        await withTaskGroup(of: Int.self) { group in
            for number in 0..<8 {
                group.addTask {
                    let text = Bytes("[" + (0..<500).map { "{\"id\":\($0 * number)}" }.joined(separator: ",") + "]")
                    return (0..<50).reduce(0) { sum, _ in
                        sum + ((try? JSON.parse(text))?.elements.reduce(0) { $0 + ($1["id"]?.int ?? 0) } ?? -1)
                    }
                }
            }
            var sum = 0
            for await part in group { sum += part }
            #expect(sum == 50 * (0..<500).reduce(0, +) * (0..<8).reduce(0, +))
        }
    }
}
