// feedbus: every mistake of a config is found in one run, at its place.

import FeedbusBase
import FeedbusJSON
import Testing

@Suite("ConfigText")
struct ConfigTextTests {
    /// `line:column code`, in order.
    private func codes(_ text: String) -> [String] {
        ConfigText.parse(Bytes(text)).problems.map { "\($0.position.line):\($0.position.column) \($0.code)" }
    }

    @Test("A good config with both kinds of comments")
    func good() throws {
        let text = """
            // first
            { /* "x": 1, */ "a" : [ 1.50 , "x\\u00e9\\ud83d\\ude00" , null ] , // rest
              "b" /**/ : /* // */ { "c.d": true, "e": {} } /* * / ** */
            }
            // last
            """
        let (value, problems) = ConfigText.parse(Bytes(text))
        #expect(problems.isEmpty)
        let root = try #require(value)
        #expect(root.path.isEmpty && root.position == SourcePosition(line: 2, column: 1))
        let list = try #require(root["a"])
        #expect(list.position == SourcePosition(line: 2, column: 23) && list.path == "a")
        #expect(list.elements?.map(\.path) == ["a[0]", "a[1]", "a[2]"])
        #expect(list.elements?[1].string == "xé😀")
        if case .number(let digits)? = list.elements?[0].content {
            #expect(digits == "1.50")
        } else {
            Issue.record("no number")
        }
        #expect(root["b"]?["c.d"]?.path == "b.c.d")
        #expect(
            root["b"]?.members?.map { $0.keyPosition } == [
                SourcePosition(line: 3, column: 25), SourcePosition(line: 3, column: 38),
            ])
        #expect(root.members?.map(\.key) == ["a", "b"])
    }

    @Test("Whatever JSON accepts has no problems", arguments: JSONParseTests.accepted)
    func json(_ text: String) {
        let (value, problems) = ConfigText.parse(Bytes(text))
        #expect(value != nil)
        #expect(problems.allSatisfy { $0.code == "duplicate-key" }, "\(problems)")
    }

    @Test("Whatever JSON refuses has problems", arguments: JSONParseTests.refused)
    func notJSON(_ text: String, _ offset: Int, _ words: String) {
        let problems = ConfigText.parse(Bytes(text)).problems
        #expect(problems.isEmpty == text.hasPrefix("//"), "\(problems)")
    }

    static let cases: [(String, [String])] = [
        ("", ["1:1 empty"]), (" \n // a\n", ["3:1 empty"]), ("nonsense", ["1:1 bare-word"]),
        ("{", ["1:2 unclosed"]), ("{\"a\": {\n", ["2:1 unclosed", "2:1 unclosed"]), ("[1", ["1:3 unclosed"]),
        ("\u{FEFF}{ \"a\": x }", ["1:1 bom", "1:8 bare-word"]),
        // Commas.
        ("{\"a\": 1 ,\n }", ["1:9 trailing-comma"]), ("[1,2,]", ["1:5 trailing-comma"]),
        ("[1,,2]", ["1:4 extra-comma"]),
        ("[,]", ["1:2 extra-comma"]), ("{,}", ["1:2 extra-comma"]), ("[1 2]", ["1:4 missing-comma"]),
        ("{\"a\": 1\n \"b\": 2}", ["2:2 missing-comma"]),
        ("{\"a\": {}\n \"b\": [] \"c\": 3}", ["2:2 missing-comma", "2:10 missing-comma"]),
        // Keys.
        ("{\"a\": 1, \"b\": 2, \"a\" : 3}", ["1:18 duplicate-key"]),
        ("{\"a\": 1, \"\\u0061\": x, \"a\": 2}", ["1:10 duplicate-key", "1:20 bare-word", "1:23 duplicate-key"]),
        ("{a: 1, 'b': 2}", ["1:2 bare-key", "1:8 single-quotes"]), ("{1: 2}", ["1:2 bare-key"]),
        ("{[1,]: 2, \"b\": 3}", ["1:2 unexpected", "1:4 trailing-comma", "1:6 unexpected"]),
        ("{\"a\" 1}", ["1:6 missing-colon"]), ("{\"a\" = 1}", ["1:6 missing-colon"]),
        ("{\"a\", \"b\": 1}", ["1:2 missing-value"]),
        ("{\"a\": , \"b\": }", ["1:2 missing-value", "1:9 missing-value"]), ("{\"a\"}", ["1:2 missing-value"]),
        ("{\"a\": \"b\": 1}", ["1:10 unexpected"]),
        // Strings.
        ("{\"a\": \"x,\n \"b\": \"y}\n", ["1:7 unterminated-string", "2:7 unterminated-string"]),
        ("{\"a\n: 1}", ["1:2 unterminated-string"]),
        ("[\"a\\x\", \"b\\u12\"]", ["1:4 bad-escape", "1:11 bad-escape"]),
        ("[\"a\tb\u{0}c\"]", ["1:4 control-character", "1:6 control-character"]),
        ("['a', \"b]", ["1:2 single-quotes", "1:7 unterminated-string"]), ("[\"a\r\n]", ["1:2 unterminated-string"]),
        ("[\"\\", ["1:3 bad-escape", "1:2 unterminated-string", "1:4 unclosed"].sorted()),
        // Numbers and words.
        (
            "[01, +1, .5, 5., 1e, 0x1F, 10s, -, 1.2.3, NaN]",
            [
                "1:2 bad-number", "1:6 bad-number", "1:10 bad-number", "1:14 bad-number", "1:18 bad-number",
                "1:22 bad-number", "1:28 bad-number", "1:33 bad-number", "1:36 bad-number", "1:43 bare-word",
            ]
        ),
        ("[True, nul, yes, on]", ["1:2 bare-word", "1:8 bare-word", "1:13 bare-word", "1:18 bare-word"]),
        ("[truefalse]", ["1:2 bare-word"]),
        // Comments and blanks.
        ("[1] /* a", ["1:5 unterminated-comment"]), ("{\"a\": 1, /* b", ["1:10 unterminated-comment"]),
        ("# a\n[1]", ["1:1 bad-comment"]),
        ("[1,\u{A0}2,\u{2003}\u{2003}3]", ["1:4 odd-blank", "1:7 odd-blank"]),
        ("[1 / 2]", ["1:4 missing-comma", "1:4 unexpected"]),
        // Brackets and what stands behind the end.
        ("[1}", ["1:3 wrong-bracket"]), ("{\"a\": [1}", ["1:9 wrong-bracket"]), ("[{\"a\": 1]", ["1:9 wrong-bracket"]),
        ("{\"a\": 1]", ["1:8 wrong-bracket"]),
        ("{} {}", ["1:4 content-after-end"]), ("[]]", ["1:3 content-after-end"]), ("1 2", ["1:3 content-after-end"]),
        ("{\"a\": 1}}", ["1:9 content-after-end"]),
        ("{\"a\": 1}, \"b\": x, \"a\": 2}", ["1:9 content-after-end", "1:16 bare-word", "1:19 duplicate-key"]),
        ("[\u{201C}a\u{201D}, 1]", ["1:2 unexpected"]), ("]", ["1:1 unexpected"]), ("[;]", ["1:2 unexpected"]),
        ("[1;2]", ["1:3 missing-comma", "1:3 unexpected"]),
        ("{\n\t\"ключ😀\": ü\n}", ["2:11 unexpected"]),
    ]

    @Test("Mistakes and their places", arguments: cases)
    func mistakes(_ text: String, _ expected: [String]) { #expect(codes(text) == expected) }

    @Test("What stands around a mistake is still read")
    func recovery() throws {
        let text = """
            {
              "sources": { "jokes": { "plugin": "Jokes", "with": { "intervall": "60s", } },
                           "rx": { "plugin": "GithubEvents" "with": { "repo": "a/b, "page": 01 } } },
              "sinks": { "log": { "every": 10s, "path": "a.jsonl", "path" : "b.jsonl", ok: TRUE } }},
              "more": ["x" "y",]
            }
            """
        let (value, problems) = ConfigText.parse(Bytes(text))
        #expect(problems == problems.sorted { $0.position < $1.position })
        let root = try #require(value)
        #expect(root.members?.map(\.key) == ["sources", "sinks", "more"])
        #expect(root["sources"]?["jokes"]?["with"]?["intervall"]?.string == "60s")
        #expect(root["sources"]?["rx"]?["plugin"]?.string == "GithubEvents")
        #expect(root["sinks"]?["log"]?["path"]?.string == "a.jsonl")
        #expect(root["sinks"]?["log"]?["every"]?.string == "10s")
        #expect(root["sinks"]?["log"]?["ok"]?.kindName == "a boolean")
        #expect(root["more"]?.elements?.map(\.string) == ["x", "y"])
        for code in [
            "trailing-comma", "missing-comma", "bad-number", "duplicate-key", "bare-key", "bare-word",
            "content-after-end",
        ] {
            #expect(problems.contains { $0.code == code }, "\(code)")
        }
        let duplicate = try #require(problems.first { $0.code == "duplicate-key" })
        #expect(duplicate.path == "sinks.log.path")
        #expect(duplicate.position == SourcePosition(line: 4, column: 56))
        #expect(duplicate.message.contains("4:37"))
        #expect(problems.first { $0.code == "bare-word" }?.suggestion == "true")
    }

    @Test("The words that people look for")
    func words() {
        #expect(ConfigText.parse("\u{FEFF}{}").problems.first?.message.contains("byte order mark (BOM)") == true)
        #expect(ConfigText.parse("[1,]").problems.first?.message.contains("trailing comma") == true)
        #expect(ConfigText.parse("{\"a\":1,\"a\":1}").problems.first?.message.contains("duplicate key \"a\"") == true)
        #expect(ConfigText.parse("[01]").problems.first?.suggestion == "1")
    }

    @Test("The first of two equal keys stays")
    func duplicates() {
        let value = ConfigText.parse("{\"a\": 1, \"a\": {\"b\": 2}}").value
        #expect(value?.members?.count == 1)
        #expect(value?["a"]?.kindName == "a number")
    }

    @Test("No message has a line break, whatever the text")
    func oneLine() {
        for problem in ConfigText.parse("{\"a\\nb\": 1, \"a\\nb\": 2, \u{1}, \"\\\n}").problems {
            #expect(!problem.message.contains("\n"))
        }
    }

    @Test("Other encodings and binary files")
    func encodings() {
        #expect(ConfigText.parse(Bytes([0xFF, 0xFE, 0x7B, 0x00])).problems.map(\.code) == ["encoding"])
        #expect(ConfigText.parse(Bytes([0x7B, 0x00, 0x7D, 0x00])).problems.map(\.code) == ["encoding"])
        #expect(
            ConfigText.parse(Bytes([0x5B, 0x22, 0xE9, 0x22, 0x2C, 0xE9, 0x5D])).problems.map(\.code) == [
                "invalid-utf8", "invalid-utf8",
            ])
        let noise = (1..<100_000).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) }
        let binary = ConfigText.parse(Bytes([UInt8]("{a".utf8) + noise))
        #expect(binary.problems.count == 101)
        #expect(binary.problems.last?.code == "too-many")
    }

    @Test("Nesting is bounded")
    func depth() {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let good = String(repeating: open, count: 999) + "[]" + String(repeating: close, count: 999)
            #expect(codes(good).isEmpty)
            #expect(codes(open + good + close) == ["1:\(open.count * 1000 + 1) too-deep"])
            #expect(codes(String(repeating: open, count: 100_000)) == ["1:\(open.count * 1000 + 1) too-deep"])
        }
    }

    @Test("A long line takes no quadratic time")
    func longLine() {
        let text = "{" + (0..<50_000).map { "\"k\($0)\":[\($0)]" }.joined(separator: ",") + "}"
        #expect(ConfigText.parse(Bytes(text)).value?.members?.count == 50_000)
    }
}
