// feedbus: jq programs that end their process, and those that never end.

import FeedbusBase
import Testing

@testable import FeedbusJQ

/// What a program made of one input.
private struct Outcome: Equatable {
    var outputs: [String] = []
    var end = JQEnd.done
}

private func run(_ program: JQProgram, _ inputs: [String]) -> [Outcome] {
    var outcomes: [Outcome] = []
    var writer = ByteWriter()
    program.run(inputs.map { Bytes($0) }, into: &writer) { writer, index, outputs, end in
        #expect(index == outcomes.count)
        let bytes = writer.finish()
        outcomes.append(Outcome(outputs: outputs.map { bytes[$0].string }, end: end))
    }
    return outcomes
}

struct JQProgramTests {
    /// jq 1.6 ends its process on each of these: by an assertion, a bad access, a division, or for want of memory.
    @Test(arguments: [
        ("1764560000123456789 | todate", "SIGABRT"), ("nan | todate", "SIGABRT"), ("1 | strftime(1)", "SIGABRT"),
        (#""aé" | [match("a*"; "g")]"#, "SIGSEGV"), (#""aé" | [splits(""; "g")]"#, "SIGSEGV"),
        ("-9223372036854775808 % -1", "SIGFPE"), ("[1] | .[1e9] = 1", "cannot allocate memory"),
    ])
    func anInputThatEndsTheProcessFailsAlone(expression: String, reason: String) throws {
        let program = try JQProgram("if . == 2 then (\(expression)) else ., . * 10 end")
        for _ in 0..<2 {
            let outcomes = run(program, ["1", "2", "3", "2", "4"])
            #expect(outcomes.map(\.outputs) == [["1", "10"], [], ["3", "30"], [], ["4", "40"]])
            for (index, outcome) in outcomes.enumerated() {
                guard index == 1 || index == 3 else {
                    #expect(outcome.end == .done)
                    continue
                }
                guard case .failed(let message) = outcome.end else {
                    Issue.record("\(outcome.end)")
                    continue
                }
                #expect(message.hasPrefix("jq ended by itself over it (SIG") && message.contains(reason))
            }
        }
    }

    @Test func theAssertionIsTold() throws {
        let outcomes = run(try JQProgram("nan | todate"), ["1"])
        guard case .failed(let message) = outcomes[0].end else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(message.contains("jv_array_get: Assertion"))
    }

    @Test func conditionsGoOnToo() throws {
        let program = try JQProgram("if . == 2 then nan | todate else . > 2 end")
        var found: [String] = []
        program.holds(for: ["1", "2", "3"].map { Bytes($0) }) { index, holds, end in
            found.append("\(index) \(holds) \(end == .done)")
        }
        #expect(found == ["0 false true", "1 false false", "2 true true"])
    }

    @Test func outputsThatCameBeforeTheEndDoNotCount() throws {
        let program = try JQProgram("if . == 2 then range(10000), (nan | todate) else . end")
        let outcomes = run(program, ["1", "2", "3"])
        #expect(outcomes.map(\.outputs) == [["1"], [], ["3"]])
    }

    /// More than the sockets hold, in both directions, in one batch and in many.
    @Test func largeTextsGoThroughWhole() throws {
        let program = try JQProgram(".")
        let long = "\"" + String(repeating: "x", count: 20 << 20) + "\""
        let many = (0..<5_000).map { "{\"n\":\($0),\"s\":\"\(String(repeating: "y", count: 700))\"}" }
        let outcomes = run(program, [long] + many + [long])
        #expect(outcomes.map(\.outputs) == ([long] + many + [long]).map { [$0] })
    }

    @Test func whatIsGivenUpEndsAndBeginsNothingMore() throws {
        let program = try JQProgram("if . == 2 then last(range(1e12)) else . end")
        program.watch.giveUp()
        #expect(run(program, ["1", "2"]).allSatisfy { $0 == Outcome(end: .halted) })
    }

    @Test func aTextThatIsNoProgramIsRefusedWithTheReason() {
        #expect(throws: JQCompileError.self) { try JQProgram("{") }
        #expect(throws: JQCompileError.self) { try JQProgram("import \"a\" as a; .") }
        let error = #expect(throws: JQCompileError.self) { try JQProgram("nothing") }
        #expect(error?.message.contains("nothing/0 is not defined") == true)
    }
}
