// feedbus: ${NAME} in configs.

import FeedbusBase
import FeedbusJSON
import Testing

@testable import FeedbusRuntime

@Suite struct EnvironmentSubstitutionTests {
    private func substitute(_ text: String, _ environment: [String: String] = [:]) -> String? {
        var substitution = EnvironmentSubstitution(environment: environment, text: SourceText(bytes: Bytes()))
        let value = PositionedValue(.string(text), at: SourcePosition(line: 1, column: 1), path: "")
        let result = substitution.apply(to: value).string
        return substitution.problems.isEmpty ? result : nil
    }

    @Test(arguments: [
        ("plain", "plain"), ("${A}", "1"), ("x${A}y${A}z", "x1y1z"), ("${B:-2}", "2"), ("${A:-2}", "1"),
        ("${EMPTY:-2}", "2"), ("${EMPTY}", ""), ("${B:-}", ""), ("${B:-a:-b}", "a:-b"), ("$${A}", "${A}"),
        ("$A costs 5$", "$A costs 5$"), ("$$$", "$$$"), ("é${A}", "é1"), ("${QUOTE}", "\"}, {"),
    ])
    func values(_ text: String, _ expected: String) {
        #expect(substitute(text, ["A": "1", "EMPTY": "", "QUOTE": "\"}, {"]) == expected)
    }

    @Test(arguments: ["${B}", "${", "${}", "${A", "${1A}", "${A B}", "${A:+x}", "${A-x}"])
    func mistakes(_ text: String) { #expect(substitute(text, ["A": "1"]) == nil) }

    @Test func valuesOnlyAndNeverStructure() throws {
        let (plan, problems) = load(
            minimal(source: #", "with": { "category": "${C}" }"#).replacing("[\"jokes\"]", with: "[\"${N:-jokes}\"]"),
            environment: ["C": "\", \"every\": \"no duration"])
        #expect(problems == [])
        #expect(plan?.nodes.last?.from == ["jokes"])
        // A dollar may be written as an escape, too.
        let (escaped, _) = load(
            minimal().replacing("[\"jokes\"]", with: "[\"\\u0024{N:-jokes}\"]"), environment: [:])
        #expect(escaped?.nodes.last?.from == ["jokes"])
        #expect(
            FeedbusRuntimeTests.problems(minimal(#" "${K}": 1,"#), environment: ["K": "http"]) == [
                #"1:3: error: unknown section "${K}""#
            ])
    }

    @Test func anUnsetVariableIsReportedOnceAtItsDollar() {
        #expect(
            FeedbusRuntimeTests.problems(minimal(source: #", "with": { "every": "ab\n\u00e9\ud83d\ude00é${B}" }"#)) == [
                "2:89: error: the environment variable B is not set (${B:-default} would give it a default)"
            ])
        #expect(
            FeedbusRuntimeTests.problems(minimal().replacing("[\"jokes\"]", with: "[\"${B}\"]")) == [
                "3:51: error: the environment variable B is not set (${B:-default} would give it a default)"
            ])
    }
}
