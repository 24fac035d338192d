// feedbus: what the console makes of events.

import FeedbusPlugin
import Testing

@testable import ConsolePlugin

struct LineTemplateTests {
    @Test func placeholdersAreTakenApart() throws {
        let template = try LineTemplate("{{{time}}} {node}: {/a~1b/0}")
        #expect(
            template.pieces == [
                .text("{"), .time, .text("} "), .node, .text(": "), .pointer(JSONPointer("/a~1b/0")!),
            ])
    }

    @Test(arguments: [
        ("{nod}", "unknown placeholder {nod}"), ("{time", "has no \"}\""), ("time}", "has no \"{\""), ("{}", "unknown"),
        ("{/a~2}", "no JSON pointer"),
    ])
    func mistakesAreNamed(text: String, words: String) {
        #expect {
            _ = try LineTemplate(text)
        } throws: { error in
            (error as? LineTemplate.Problem)?.message.contains(words) == true
        }
    }

    @Test func theCheckSuggestsTheRightName() throws {
        #expect(try problems(Console.self, "{\"template\": \"{nod}\"}").count == 1)
        #expect(try problems(Console.self, "{\"template\": \"{node}\", \"format\": \"json\"}").count == 1)
        #expect(try problems(Console.self, "{\"template\": \"{node}\"}") == [])
    }
}

struct TerminalTextTests {
    @Test func controlCharactersBecomeBlanks() {
        #expect(TerminalText.oneLine("a\u{1B}[31mb\nc\u{9B}d\u{202E}e\u{7F}") == "a [31mb c d e ")
        #expect(TerminalText.oneLine("schön 😀") == "schön 😀")
    }

    @Test(arguments: [
        ("abc", 3, "abc"), ("abcd", 3, "ab…"), ("日本語", 6, "日本語"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("a", 0, ""),
        ("e\u{301}e\u{301}e", 3, "e\u{301}e\u{301}e"), ("", 0, ""), ("👩‍👩‍👧x", 3, "👩‍👩‍👧x"),
    ])
    func textIsCutToTheColumns(text: String, columns: Int, fitting: String) {
        #expect(TerminalText.fit(text, columns: columns).text == fitting)
    }
}

struct PrettyJSONTests {
    private func pretty(_ text: Bytes, colored: Bool = false) -> String {
        var writer = ByteWriter()
        PrettyJSON(isColored: colored).append(text, to: &writer)
        return writer.finish().string
    }

    @Test(arguments: [
        "{}", "[]", "[[],{}]", "{\"a\":[1,{\"b\":null}],\"c\":\"x\\\"{[,:\\\\\"}", "\"only\"", "-1.50e+3",
        "{\"\":{\"\":[]}}",
    ])
    func compactedAgainItIsTheSame(text: String) throws {
        #expect(try JSON.minify(Bytes(pretty(Bytes(text)))).string == text)
    }

    @Test func itIsIndented() {
        #expect(pretty("{\"a\":[1,2],\"b\":{}}") == "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {}\n}")
    }

    @Test func keysAndStringsHaveColours() {
        #expect(pretty("{\"a\":\"b\"}", colored: true) == "{\n  \u{1B}[34m\"a\"\u{1B}[0m: \u{1B}[32m\"b\"\u{1B}[0m\n}")
    }
}

struct ConsoleRendererTests {
    private func text(
        _ event: Event, _ format: ConsoleFormat = .line, template: String? = nil, colored: Bool = false,
        columns: Int? = nil, terminal: Bool = false, headline: String? = nil
    ) throws -> String {
        var renderer = ConsoleRenderer(
            format: format, template: try template.map { try LineTemplate($0) }, headline: { _ in headline })
        renderer.isColored = colored
        renderer.columns = columns
        renderer.isTerminal = terminal
        var writer = ByteWriter()
        renderer.append(event, now: WallTime(seconds: 1_772_366_400), to: &writer)
        return writer.finish().string
    }

    @Test func aLineNamesTimeNodeAndHeadline() throws {
        var plain = event("{}", id: "77")
        plain.subject = "sub"
        #expect(try text(plain).hasSuffix(" src org.example.test 77 sub\n"))
        let line = try text(plain, headline: "octocat starred\na/b")
        #expect(line.hasSuffix(" src octocat starred a/b\n"))
        #expect(line.prefix { $0 != " " }.count == "10:00:00".count)
    }

    @Test func anEventOfAnotherDayHasItsDate() throws {
        var old = event("{}")
        old.time = "2001-02-03T12:00:00Z"
        #expect(try text(old).hasPrefix("2001-02-0"))
    }

    @Test func jsonIsTheCloudEvent() throws {
        #expect(try text(event("{\"a\":1}"), .json) == event("{\"a\":1}").cloudEvent.string + "\n")
    }

    @Test(arguments: [ConsoleFormat.json, .pretty]) func aTerminalIsNotCommandedByData(format: ConsoleFormat) throws {
        let odd = event("{\"a\":\"\u{9B}2J\u{7F}\u{202E}\u{2067}\u{A0}é€\u{1F600}\\u001b\"}")
        let shown = try text(odd, format, terminal: true)
        #expect(shown.contains("\"\\u009b2J\\u007f\\u202e\\u2067\u{A0}é€\u{1F600}\\u001b\""))
        #expect(try JSON.parse(Bytes(shown))["data"]?["a"]?.string == JSON.parse(odd.data)["a"]?.string)
        // Another program gets what the service sent.
        #expect(try text(odd, format).contains("\u{9B}2J\u{7F}\u{202E}\u{2067}\u{A0}é€\u{1F600}\\u001b"))
        #expect(try text(odd, format, colored: true, terminal: true).contains("\u{1B}[") == (format == .pretty))
    }

    @Test func templatesPickValues() throws {
        let event = event("{\"a\":\"x\\ny\",\"b\":[1.0]}")
        #expect(
            try text(event, template: "{id}|{/a}|{/b}|{/b/0}|{/c}|{data}")
                == "1|x y|[1.0]|1.0||{\"a\":\"x\\ny\",\"b\":[1.0]}\n")
    }

    @Test func aTerminalsWidthIsKept() throws {
        let event = event("{}")
        #expect(try text(event, template: "{node} {type}", columns: 9) == "src org.…\n")
        #expect(try text(event, template: "{node} {type}", colored: true, columns: 3) == "\u{1B}[36msrc\u{1B}[0m\n")
    }

    @Test(arguments: [
        ("2026-03-01T12:00:00Z", "   HH:MM:SS "), ("2026-02-03T12:00:00Z", "02-0H HH:MM "),
        ("2001-02-03T12:00:00Z", " 2001-02-0H "),
    ])
    func timesOnATerminalTakeElevenColumns(time: String, shape: String) throws {
        var dated = event("{}")
        dated.time = Bytes(time)
        let line = try text(dated, columns: 100)
        #expect(line.hasSuffix(" src org.example.test 1\n"))
        // Hours and days are those of this machine's time zone.
        for (found, wanted) in zip(line, shape) {
            if "HMS".contains(wanted) { #expect(found.isNumber) } else { #expect(found == wanted) }
        }
    }

    @Test func namesOnATerminalTakeTheWidthOfTheLongest() {
        var renderer = ConsoleRenderer(format: .line, template: nil, headline: { _ in "-" })
        renderer.columns = 40
        var writer = ByteWriter()
        for node in ["a", "abcd", "ab"] {
            let origin = EventOrigin(source: "s", type: "t", node: node)
            renderer.append(event("{}", origin: origin), now: WallTime(seconds: 1_772_366_400), to: &writer)
        }
        let lines = writer.finish().string.split(separator: "\n").map { $0.dropFirst(12) }
        #expect(lines == ["a -", "abcd -", "ab   -"])
    }

    @Test func nodesHaveColoursOfTheirOwn() {
        var colors = NodeColors()
        let given = (0..<12).map { colors.color(of: "n\($0)") }
        #expect(Set(given).count == 12)
        #expect(colors.color(of: "n3") == given[3])
    }
}
