// feedbus: loads a config from a text, with a made-up environment and file system.

import FeedbusBase
import FeedbusJSON
import FeedbusPlugin

@testable import FeedbusRuntime

/// What the file system of a test holds; the working directory is `/home`.
func files(_ contents: [String: String] = [:]) -> FileAccess {
    FileAccess(
        workingDirectory: "/home",
        read: { path, limit throws(FileAccess.Unreadable) in
            guard let text = contents[path] else { throw FileAccess.Unreadable(reason: "No such file or directory") }
            return Bytes(text)
        },
        isExecutable: { _ in false }, exists: { contents[$0] != nil })
}

/// Loads `/home/config.json` with this text.
func load(
    _ text: String, environment: [String: String] = [:], set: [String] = [], files contents: [String: String] = [:]
) -> (plan: Plan?, problems: [ConfigProblem]) {
    let loader = ConfigLoader(
        registry: .stubs, environment: environment,
        files: files(contents.merging(["/home/config.json": text]) { first, _ in first }))
    return loader.load(path: "config.json", overrides: set.map { Override(argument: $0)! })
}

/// The problems as they are shown, without `config.json:`.
func problems(
    _ text: String, environment: [String: String] = [:], set: [String] = [], files: [String: String] = [:]
) -> [String] {
    let (plan, problems) = load(text, environment: environment, set: set, files: files)
    let shown = ProblemText(file: "config.json", overrides: set.map { Override(argument: $0)! }).lines(problems)
    let lines = shown.split(separator: "\n").map { line in
        String(line.hasPrefix("config.json:") ? line.dropFirst("config.json:".count) : line)
    }
    return plan == nil ? lines : ["a plan, and"] + lines
}

/// A config with one source and one sink, and more members of the root.
func minimal(_ more: String = "", source: String = "", sink: String = "") -> String {
    """
    {\(more)
      "sources": { "jokes": { "plugin": "Jokes"\(source) } },
      "sinks": { "log": { "plugin": "Null", "from": ["jokes"]\(sink) } }
    }
    """
}
