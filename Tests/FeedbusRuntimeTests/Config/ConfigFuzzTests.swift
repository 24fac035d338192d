// feedbus: whatever a config holds, the loader answers with a plan or with errors at places that exist.

import FeedbusBase
import FeedbusJSON
import Testing

@testable import FeedbusRuntime

@Suite struct ConfigFuzzTests {
    private static let seed = """
        {
          "feedbus": { "state": "var", "log": { "level": "debug" } }, // comment
          "sources": { "jokes": { "plugin": "Jokes", "with": { "every": "${E:-5s}", "count": 3 } },
                       "rx": { "plugin": "GitHubEvents", "with": { "repo": "a/b", "types": ["x", "y"] } } },
          "stages": { "one": { "plugin": "Take", "from": ["jokes", "rx"], "with": { "count": 2 }, "on_error": "drop" } },
          "subjects": { "act": { "from": ["one"], "replay": 5, "scope": "forever" } },
          "sinks": { "log": { "plugin": "JSONLines", "from": ["act"], "with": { "path": "a.jsonl" },
                              "buffer": { "events": 16 }, "retry": { "base": "1s" } } }
        }
        """

    /// Texts that may take the place of a token.
    private static let tokens = [
        "null", "true", "[]", "{}", "-1", "1e999", "\"\"", "\"one\"", "\"log\"", "[\"act\", \"log\"]",
        "{\"from\": [\"log\"]}",
        "\"${\"", "\"${NOPE}\"", "\"a.b\"", ",", ":", "]", "}", "\"", "/*", "//",
    ]

    private func mutated(_ random: inout SplitMix64) -> String {
        var parts = Self.seed.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let at = Int.random(in: parts.indices, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: parts[at] = Self.tokens.randomElement(using: &random)!
            case 1: parts[at] = ""
            case 2: parts[at] = parts.randomElement(using: &random)!
            default: parts[at] += Self.tokens.randomElement(using: &random)!
            }
        }
        return parts.joined(separator: " ")
    }

    @Test func everyMutationIsAnswered() {
        var random = SplitMix64(seed: 20_260_301)
        var plans = 0
        for _ in 0..<300 {
            let text = mutated(&random)
            let (plan, problems) = load(text, set: ["feedbus.log.format=json", "sources.jokes.with.every=2s"])
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            #expect((plan == nil) == problems.contains { $0.severity == .error }, "\(text)")
            #expect(problems.map(\.position) == problems.map(\.position).sorted(), "\(text)")
            for problem in problems where problem.position.overrideIndex == nil {
                let line = problem.position.line
                #expect(line >= 1 && line <= lines.count && problem.position.column >= 1, "\(problem) \(text)")
                guard line >= 1, line <= lines.count else { continue }
                #expect(problem.position.column <= lines[line - 1].unicodeScalars.count + 1, "\(problem) \(text)")
            }
            if plan != nil { plans += 1 }
        }
        #expect(plans > 0)
    }
}
