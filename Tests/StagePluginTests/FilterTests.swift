// feedbus: which events a condition lets through.

import FeedbusPlugin
import FilterPlugin
import Testing

private let types = ["Push", "Fork", "Push", "Watch"].map { "{\"type\":\"\($0)\",\"n\":1}" }

/// The ids of the events for which a condition holds.
private func passed(_ condition: String, _ data: String..., more: String = "") throws -> [String] {
    try run(Filter.self, "{\"where\": \(condition)\(more)}", Script(data)).ids
}

/// Whether a condition on `/v` holds for a value; nil stands for none.
private func holds(_ comparison: String, for value: String?) throws -> Bool {
    try passed("{\"pointer\": \"/v\", \(comparison)}", value.map { "{\"a\":[1,2],\"v\":\($0)}" } ?? "{}") == ["1"]
}

struct FilterTests {
    @Test(arguments: [1, 2, 3, .max])
    func passesWhatMatchesInOrder(chunk: Int) throws {
        let trace = try run(
            Filter.self, #"{"where": {"pointer": "/type", "in": ["Push", "Watch"]}}"#, Script(types, chunk: chunk))
        #expect(trace.ids == ["1", "3", "4"])
        #expect(trace.data == [types[0], types[2], types[3]])
        #expect(trace.settled.sorted() == ["0:1", "0:2", "0:3", "0:4"])
    }

    @Test func whatIsLeftOutIsDeliveredAndTheRestWaitsForItsConsumer() throws {
        let trace = try run(
            Filter.self, #"{"where": {"pointer": "/type", "equals": "Push"}}"#, Script(types, chunk: 2),
            busy: .milliseconds(10))
        // 2 was left out of the first chunk and waits with 1 for the consumer, which has the chunk's array in hand.
        #expect(Set(trace.settled) == ["10:1", "10:2", "20:3", "20:4"])
    }

    @Test(
        arguments: [
            (#""equals": "Push""#, [#""Push""#, #""\u0050ush""#], [#""push""#, "null", #"["Push"]"#, nil]),
            (#""not_equals": "Push""#, [#""push""#, "null", "7", nil], [#""Push""#, #""\u0050ush""#]),
            (#""equals": 1"#, ["1", "1.0", "1e0", "10e-1"], [#""1""#, "true", "1.0000000000000000001", nil]),
            (
                #""equals": 9007199254740993"#, ["9007199254740993", "9007199254740993.0"],
                ["9007199254740992", "9007199254740994"]
            ),
            (#""equals": 1e400"#, ["1e400", "10e399"], ["1e401", "-1e400"]),
            (#""equals": true"#, ["true"], ["false", "1", #""true""#, nil]),
            (#""equals": null"#, ["null"], ["false", "0", nil]),
            (#""in": ["a", 1, null]"#, [#""a""#, "1.0", "null"], [#""1""#, "true", nil]),
            (#""not_in": ["a", 1]"#, [#""b""#, "null", nil], [#""a""#, "1e0"]),
            (
                #""in": ["a","b","c","d","e","f","g","h","i","j","z"]"#, [#""a""#, #""z""#, #""e""#, #""\u0061""#],
                [#""k""#, #""""#, #""zz""#]
            ),
            (#""less": 10"#, ["9", "-1e400", "9.9999999999999999999999"], ["10", "10.0", "1e1", #""9""#, nil]),
            (#""less_or_equal": 10"#, ["10.0"], ["10.00000000000000000001"]),
            (#""greater": -0.5"#, ["0", "-0.4", "1e400"], ["-0.5", "-5e-1", "-1"]),
            (#""greater_or_equal": 100000000000000000000"#, ["100000000000000000000"], ["99999999999999999999"]),
            (#""greater": "2026-01-01""#, [#""2026-01-01T00:00:00Z""#], [#""2025""#, #""2026-01-01""#, "3000"]),
            (#""exists": true"#, ["null", "0"], [nil]),
            (#""exists": false"#, [nil], ["null", "0"]),
            (#""starts_with": "Pu""#, [#""Push""#, #""P\u0075""#], [#""push""#, #""P""#, "7", nil]),
            (#""contains": "us""#, [#""Push""#, #""P\u0075sh""#], [#""Psuh""#, nil]),
            (#""greater": 1, "less": 3"#, ["2"], ["1", "3", nil]),
        ] as [(String, [String?], [String?])])
    func comparisons(_ comparison: String, _ yes: [String?], _ no: [String?]) throws {
        for value in yes { #expect(try holds(comparison, for: value), "\(value ?? "nothing")") }
        for value in no { #expect(try !holds(comparison, for: value), "\(value ?? "nothing")") }
    }

    @Test func conditionsArePutTogether() throws {
        let data = #"{"a":1,"b":{"c":[5,6]}}"#
        func holds(_ condition: String) throws -> Bool { try passed(condition, data) == ["1"] }
        let (yes, no) = (#"{"pointer":"/a","equals":1}"#, #"{"pointer":"/b/c/1","equals":7}"#)
        #expect(try holds("{\"all\":[\(yes),\(yes)]}"))
        #expect(try !holds("{\"all\":[\(yes),\(no)]}"))
        #expect(try holds("{\"any\":[\(no),\(yes)]}"))
        #expect(try !holds("{\"any\":[\(no),\(no)]}"))
        #expect(try holds("{\"not\":\(no)}"))
        #expect(try holds("{\"not\":{\"any\":[\(no),{\"not\":\(yes)}]}}"))
        #expect(try !holds("{\"pointer\":\"/a\",\"equals\":1,\"not\":\(yes)}"))
    }

    @Test func theWholeEventCanBeLookedAt() throws {
        #expect(
            try passed(#"{"pointer":"/type","equals":"org.example.test"}"#, "{}", more: #", "on": "event""#) == ["1"])
        #expect(
            try passed(#"{"pointer":"/data/n","equals":2}"#, #"{"n":2}"#, #"{"n":3}"#, more: #", "on": "event""#) == [
                "1"
            ])
        #expect(try passed(#"".id == \"2\"""#, "{}", "{}", more: #", "on": "event""#) == ["2"])
    }

    @Test func jqDecidesByAnyOutput() throws {
        let data = [#"{"a":1}"#, #"{"a":null}"#, #"{"a":false}"#, #"{"a":0}"#, #"[]"#, "{}"]
        #expect(try run(Filter.self, #"{"where": ".a?"}"#, Script(data)).ids == ["1", "4"])
        #expect(try run(Filter.self, #"{"where": "empty"}"#, Script(data)).ids == [])
        #expect(
            try run(Filter.self, #"{"where": "null, false, 1"}"#, Script(data)).ids == ["1", "2", "3", "4", "5", "6"])
    }

    @Test func anEventOnWhichJqFailsIsRefusedAloneAndNamed() throws {
        let trace = try run(Filter.self, #"{"where": ".a > 0"}"#, Script([#"{"a":1}"#, "[1]", #"{"a":2}"#]))
        #expect(trace.ids == ["1", "3"])
        #expect(trace.refused.map(\.id) == ["2"])
        #expect(
            trace.refused.first?.reason == #"the jq expression ".a > 0" failed: Cannot index array with string "a""#)
        #expect(Set(trace.settled) == ["0:1", "0:2 deadLettered", "0:3"])
        #expect(trace.error == nil)
    }

    @Test func orFailsTheStageWhereTheNodeSaysSo() throws {
        let trace = try run(Filter.self, #"{"where": ".a > 0"}"#, Script([#"{"a":1}"#, "[1]"]), onError: .fail)
        #expect(trace.error?.contains("event 2: the jq expression") == true)
    }

    @Test(arguments: [
        (
            "{}",
            [
                "2:1 missing-option missing option \"where\" of Filter at with (which events pass: a jq expression, or a condition object)"
            ]
        ),
        (
            #"{"where": 7}"#,
            [
                #"2:11 wrong-type "where" must be a jq expression, or an object such as { "pointer": "/type", "equals": "PushEvent" }, found a number"#
            ]
        ),
        (
            #"{"where": {}}"#,
            [#"2:11 missing-option an empty condition: it needs a "pointer" and a comparison, or "all", "any", "not""#]
        ),
        (
            #"{"where": {"pointer": "type", "equal": 1}}"#,
            [
                #"2:23 not-a-pointer "pointer" must be a JSON pointer such as "/type", found "type""#,
                #"2:31 unknown-option "equal" is no part of a condition; did you mean "equals"?"#,
            ]
        ),
        (
            #"{"where": {"pointer": "/a", ">=": 1}}"#,
            [#"2:29 unknown-option ">=" is no part of a condition; did you mean "greater_or_equal"?"#]
        ),
        (
            #"{"where": {"equals": 1}}"#,
            [#"2:22 missing-option "equals" needs a "pointer" beside it: what is compared"#]
        ),
        (#"{"where": {"all": []}}"#, [#"2:19 wrong-type "all" must be a list of conditions that is not empty"#]),
        (
            #"{"where": {"any": [{"pointer": "/a", "less": true}, {"pointer": "/a", "in": [[1]]}]}}"#,
            [
                #"2:46 wrong-type "less" must be a number or a string, found a boolean"#,
                #"2:78 wrong-type "in" takes strings, numbers, true, false and null, not a list"#,
            ]
        ),
        (
            #"{"where": {"pointer": "/a", "exists": 1}}"#,
            [#"2:39 wrong-type "exists" must be true or false, found a number"#]
        ),
        (
            #"{"where": ".a ==", "on": "evnt"}"#,
            [
                #"2:11 bad-expression "where" is no jq expression: syntax error, unexpected $end at the expression, line 1: .a =="#,
                #"2:26 unknown-choice "evnt" is no value of "on": one of "data", "event"; did you mean "event"?"#,
            ]
        ),
        (
            #"{"where": "foo(1)"}"#,
            [
                #"2:11 bad-expression "where" is no jq expression: foo/1 is not defined at the expression, line 1: foo(1)"#
            ]
        ),
        (
            #"{"where": "import \"a\" as a; ."}"#,
            [#"2:11 bad-expression "where" is no jq expression: module not found: a"#]
        ),
        (##"{"where": "# nothing"}"##, [#"2:11 bad-expression "where" is no jq expression: it says nothing"#]),
    ])
    func mistakesAreFoundWithTheirPlaces(_ with: String, _ expected: [String]) throws {
        #expect(try mistakes(Filter.self, with) == expected)
    }

    @Test func jqHasNoHandsInTheProcess() throws {
        #expect(try passed(#""($ENV | length) == 0 and (env | length) == 0 and $ENV.PATH == null""#, "1") == ["1"])
        for expression in ["input", "inputs", "halt", "halt_error", "halt_error(3)", "input_line_number", "modulemeta"]
        {
            let trace = try run(Filter.self, "{\"where\": \"\(expression)\"}", Script(["1"]))
            #expect(trace.refused.first?.reason.hasSuffix("is not available here") == true, "\(expression)")
        }
    }
}
