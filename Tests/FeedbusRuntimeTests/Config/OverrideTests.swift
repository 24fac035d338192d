// feedbus: --set.

import FeedbusBase
import FeedbusJSON
import FeedbusPlugin
import Testing

@testable import FeedbusRuntime

@Suite struct OverrideTests {
    @Test func thePathEndsAtTheFirstEqualsSign() {
        #expect(Override(argument: "a.b=c=d") == Override(path: "a.b", text: "c=d"))
        #expect(Override(argument: "a.b=") == Override(path: "a.b", text: ""))
        #expect(Override(argument: "a.b") == nil)
        #expect(Override(argument: "=c") == nil)
    }

    @Test func theValueIsJSONWhereTheOptionTakesMoreThanText() {
        func shown(_ text: String, _ kind: OptionKind?) -> String {
            switch Override(path: "p", text: text).value(for: kind, at: SourcePosition(line: 0, column: 1)).content {
            case .string(let text): "text \(text)"
            case .number(let text): "number \(text)"
            case .bool(let flag): "\(flag)"
            case .array(let elements): "list of \(elements.count)"
            case .object(let members): "object of \(members.count)"
            case .null: "null"
            }
        }
        #expect(shown("5", .integer(1...9)) == "number 5")
        #expect(shown("5", .string) == "text 5")
        #expect(shown("\"5\"", .string) == "text \"5\"")
        #expect(shown("5s", .duration(.zero...(.seconds(9)))) == "text 5s")
        #expect(shown("\"5s\"", .duration(.zero...(.seconds(9)))) == "text 5s")
        #expect(shown("true", .boolean) == "true")
        #expect(shown("yes", .boolean) == "text yes")
        #expect(shown("[\"a\", \"b\"]", .list(.string)) == "list of 2")
        #expect(shown("none", .either([.choice(["none"]), .integer(1...9)])) == "text none")
        #expect(shown("7", .either([.list(.string), .string])) == "text 7")
        #expect(shown("{ \"secret\": \"env:T\" }", .secret) == "object of 1")
        #expect(shown("[1", .list(.string)) == "text [1")
        #expect(shown("5", nil) == "number 5")
        #expect(shown("", .string) == "text ")
    }

    @Test func anOverrideWinsOverTheFile() throws {
        let (plan, problems) = load(
            minimal(source: #", "with": { "every": "wrong" }"#, sink: #", "buffer": { "events": 3 }"#),
            set: [
                "sources.jokes.with.every=5s", "sinks.log.buffer.when_full=fail", "feedbus.log.level=debug",
                "sinks.log.retry={\"attempts\":7}", "sinks.log.retry.jitter=none",
            ])
        #expect(problems == [])
        #expect(plan?.settings.logLevel == .debug)
        let sink = try #require(plan?.nodes.last)
        #expect(sink.buffer.events == 3 && sink.buffer.whenFull == .fail)
        #expect(sink.retry.attempts == 7 && !sink.retry.jitter)
    }

    @Test(arguments: [
        ("sources.nobody.with.every=5s", #"there is no node "nobody" in sources"#),
        ("sources.joke.with.every=5s", #"there is no node "joke" in sources; did you mean "jokes"?"#),
        ("source.jokes.with.every=5s", #"there is no section "source"; did you mean "sources"?"#),
        ("sources.jokes.with.evry=5s", #"there is no option "evry" at sources.jokes.with; did you mean "every"?"#),
        ("sources.jokes.from=x", #"there is no option "from" at sources.jokes"#),
        ("sources.jokes.with.every.x=5s", "sources.jokes.with.every has no parts: it is set as a whole"),
        ("feedbus.log.levle=info", #"there is no option "levle" at feedbus.log; did you mean "level"?"#),
        ("feedbus=1", "the section cannot be set as a whole; name an option"),
        ("sources.jokes=1", "a path such as sources.NAME.FIELD is needed"),
        ("$schema=1", #"there is no section "$schema""#),
    ])
    func aPathThatIsNotThere(_ argument: String, _ message: String) {
        let path = argument.prefix { $0 != "=" }
        let found = problems(minimal(), set: [argument])
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("--set \(path): error: \(message)") == true, "\(found)")
    }

    @Test func aWrongValueIsBlamedOnTheOption() {
        #expect(
            problems(
                minimal(), set: ["feedbus.state=x", "sources.jokes.with.every=often", "sinks.log.from=[\"joke\"]"])
                == [
                    #"--set sources.jokes.with.every: error: "every" must be a duration such as "250ms", "60s", "5m", "1h" or "1d", found "often""#,
                    #"--set sinks.log.from: error: unknown node "joke" in the "from" of sinks.log; did you mean "jokes"?"#,
                ])
    }
}
