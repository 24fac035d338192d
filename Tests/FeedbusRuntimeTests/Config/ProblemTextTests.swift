// feedbus: how problems are shown.

import FeedbusJSON
import Testing

@testable import FeedbusRuntime

@Suite struct ProblemTextTests {
    private let problem = ConfigProblem(
        "unknown option \"x\"", at: SourcePosition(line: 12, column: 17), code: "unknown-option",
        path: "sources.a.with.x",
        suggestion: "y")

    @Test func asALine() {
        #expect(
            ProblemText(file: "../config.json").lines([problem])
                == "../config.json:12:17: error: unknown option \"x\"; did you mean \"y\"?\n")
        #expect(
            ProblemText(file: "c", color: true).lines([problem]).hasPrefix(
                "\u{1B}[1mc:12:17:\u{1B}[0m \u{1B}[1;31merror:\u{1B}[0m "))
    }

    @Test func whatATerminalWouldObeyIsEscaped() {
        let evil = ConfigProblem(
            "unknown option \"\u{1B}[31m\n\u{9B}\u{202E}x\"", at: SourcePosition(line: 1, column: 2), code: "c",
            path: "p")
        #expect(
            ProblemText(file: "c").lines([evil])
                == "c:1:2: error: unknown option \"\\u{1b}[31m\\n\\u{9b}\\u{202e}x\"\n")
    }

    @Test func asJSON() {
        #expect(ProblemText(file: "c").json([]) == "[]\n")
        #expect(
            ProblemText(file: "c").json([problem]) == """
                [
                  {"file":"c","line":12,"column":17,"severity":"error","code":"unknown-option","path":"sources.a.with.x",\
                "message":"unknown option \\"x\\"","suggestion":"y"}
                ]

                """)
        let unreadable = ConfigProblem("gone", at: .wholeFile, code: "unreadable-config", path: "")
        #expect(ProblemText(file: "c").json([unreadable]).contains("\"line\":1,\"column\":1,"))
    }

    @Test func summaries() {
        var warning = problem
        warning.severity = .warning
        let text = ProblemText(file: "c")
        #expect(text.summary([problem]) == "1 error in c")
        #expect(text.summary([problem, problem, warning]) == "2 errors and 1 warning in c")
        #expect(text.summary([]) == "no problems in c")
    }
}
