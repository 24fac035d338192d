// feedbus: what becomes of an event's data.

import FeedbusPlugin
import MapPlugin
import Testing

struct MapTests {
    @Test func pickTakesValuesAsTheyStand() throws {
        let data =
            #"{"id":"1","n":1.0,"big":123456789012345678901234567890,"t":"\u0041\/","actor":{"login":"a","x":[1]},"e":1E+2}"#
        let trace = try run(
            Map.self, #"{"pick": ["/n", "/big", "/t", "/actor/login", "/e", "/nothing", "/actor/x/0", "/actor"]}"#,
            Script([data]))
        #expect(
            trace.data == [
                #"{"n":1.0,"big":123456789012345678901234567890,"t":"\u0041\/","login":"a","e":1E+2,"0":1,"actor":{"login":"a","x":[1]}}"#
            ])
        #expect(trace.ids == ["1"])
    }

    @Test func pickTakesNames() throws {
        let trace = try run(
            Map.self, #"{"pick": {"who \"x\"": "/actor/login", "all": "", "none": "/z"}}"#,
            Script([#"{"actor":{"login":"a"}}"#, "[]"]))
        #expect(trace.data == [#"{"who \"x\"":"a","all":{"actor":{"login":"a"}}}"#, #"{"all":[]}"#])
    }

    @Test(arguments: [1, 3, .max])
    func everyEventKeepsItsAttributesAndItsReceipt(chunk: Int) throws {
        let trace = try run(
            Map.self, #"{"pick": ["/n"]}"#, Script((0..<10).map { "{\"x\":\"y\",\"n\":\($0)}" }, chunk: chunk),
            busy: .milliseconds(1),
            event: { data, number in
                var event = event(data, id: "\(number)")
                event.set("flag", to: "true")
                event.subject = Bytes("s\(number)")
                return event
            })
        #expect(trace.data == (0..<10).map { "{\"n\":\($0)}" })
        #expect(trace.ids == (1...10).map { "\($0)" })
        #expect(trace.events.allSatisfy { $0[attribute: "flag"] == "true" && $0.subject == Bytes("s\($0.id.string)") })
        #expect(trace.settled.count == 10 && !trace.settled.contains { $0.hasPrefix("0:") })
    }

    @Test func jqMakesNoneOneOrSeveral() throws {
        let trace = try run(Map.self, #"{"jq": ".[]"}"#, Script(["[]", "[1]", #"["a",[2],null]"#]))
        #expect(trace.data == ["1", #""a""#, "[2]", "null"])
        #expect(trace.ids == ["2", "3", "3/2", "3/3"])
        #expect(trace.settled == ["0:1", "0:2", "0:3"])
    }

    @Test func jqSeesTheWholeEvent() throws {
        let trace = try run(Map.self, #"{"jq": "{id, type, n: .data.n}", "on": "event"}"#, Script([#"{"n":5}"#]))
        #expect(trace.data == [#"{"id":"1","type":"org.example.test","n":5}"#])
    }

    /// What `jq -c .` prints (1.6).
    @Test(arguments: [
        ("1.0", "1"), ("1e400", "1.7976931348623157e+308"), ("-1e400", "-1.7976931348623157e+308"),
        ("12345678901234567890", "12345678901234567000"), ("0.1", "0.1"), ("-0", "-0"), ("1e17", "1e+17"),
        ("1.0e15", "1000000000000000"),
        ("1e-7", "1e-07"), ("123456789.125", "123456789.125"), ("999999999999999", "999999999999999"), ("-5", "-5"),
        ("1000000000000000", "1000000000000000"), ("5e-324", "5e-324"), ("1e-400", "0"),
        ("0.30000000000000004", "0.30000000000000004"),
        (#""\u007f\u0000\u001f\b\f\n\r\t\/\"\\é€😀\ud83d\ude00""#, #""\u007f\u0000\u001f\b\f\n\r\t/\"\\é€😀😀""#),
        (#""\ud800""#, "\"\u{FFFD}\""),
        (#"{"b":1,"a":{"\u0061":[true,false,null]}}"#, #"{"b":1,"a":{"a":[true,false,null]}}"#),
        (#"{"a":1,"a":2}"#, #"{"a":2}"#), ("[]", "[]"), ("{}", "{}"), (#"[[],{},""]"#, #"[[],{},""]"#),
    ])
    func jqValuesAreThoseOfTheCommand(_ input: String, _ output: String) throws {
        #expect(try run(Map.self, #"{"jq": "."}"#, Script([input])).data == [output])
    }

    @Test func anEventOnWhichJqFailsLosesNoNeighbour() throws {
        let trace = try run(
            Map.self, #"{"jq": ".[0], (.[1] | error(\"no\"))"}"#, Script(["[1]", "{}", "7", "[2]"], chunk: 2))
        #expect(trace.data == [])
        #expect(trace.refused.map(\.id) == ["1", "2", "3", "4"])
        #expect(trace.refused[0].reason.hasSuffix("failed: no"))
        #expect(trace.settled == ["0:1 deadLettered", "0:2 deadLettered", "0:3 deadLettered", "0:4 deadLettered"])
        let half = try run(Map.self, #"{"jq": ".a"}"#, Script([#"{"a":1}"#, "[]", #"{"a":2}"#]))
        #expect(half.data == ["1", "2"])
        #expect(half.refused.map(\.id) == ["2"])
    }

    @Test func whatIsTooMuchIsRefused() throws {
        let trace = try run(
            Map.self,
            #"{"jq": "if . == 1 then range(200000) elif . == 2 then reduce range(1500) as $i (null; [.]) else . end"}"#,
            Script(["0", "1", "2", "3"]))
        #expect(trace.data == ["0", "3"])
        #expect(trace.refused.map(\.id) == ["2", "3"])
        #expect(
            trace.refused.map { $0.reason.contains("more than 100000 values") || $0.reason.contains("nests deeper") }
                == [true, true])
    }

    @Test func deepEventsAreFine() throws {
        let deep = String(repeating: "[", count: 999) + String(repeating: "]", count: 999)
        #expect(try run(Map.self, #"{"jq": "."}"#, Script([deep])).data == [deep])
    }

    @Test(arguments: [
        ("{}", [#"2:1 missing-option it needs "jq" or "pick" (Map at )"#]),
        (#"{"jq": ".", "pick": ["/a"]}"#, [#"2:21 contradiction "jq" and "pick" exclude each other (Map at )"#]),
        (
            #"{"pick": ["a", 7, "/x/a", "/y/a", ""]}"#,
            [
                #"2:11 not-a-pointer "pick" takes JSON pointers such as "/actor/login", found "a""#,
                #"2:16 not-a-pointer "pick" takes JSON pointers such as "/actor/login", found a number"#,
                #"2:27 contradiction two values would be named "a": write { "name": "/y/a", … }"#,
                #"2:35 out-of-range the pointer to all of the data has no name: write { "name": "" }"#,
            ]
        ),
        (#"{"pick": []}"#, [#"2:10 out-of-range "pick" must not be empty"#]),
        (
            #"{"pick": "/a"}"#,
            [#"2:10 wrong-type "pick" must be a list of JSON pointers or an object of them, found a string"#]
        ),
        (
            #"{"jq": "{"}"#,
            [
                #"2:8 bad-expression "jq" is no jq expression: syntax error, unexpected $end at the expression, line 1: {"#
            ]
        ),
    ])
    func mistakesAreFoundWithTheirPlaces(_ with: String, _ expected: [String]) throws {
        #expect(try mistakes(Map.self, with) == expected)
    }
}
