// feedbus: from a config file to a plan, or to everything that is wrong with it.

import FeedbusBase
import FeedbusJSON
import FeedbusPlugin

/// Reads and checks a config. Synchronous: it runs before the loop does, and starts and writes nothing.
package struct ConfigLoader: Sendable {
    /// A larger file is refused.
    package static let sizeLimit = 16 << 20

    private let registry: PluginRegistry
    private let environment: [String: String]
    private let files: FileAccess

    package init(registry: PluginRegistry, environment: [String: String], files: FileAccess = .system) {
        self.registry = registry
        self.environment = environment
        self.files = files
    }

    /// Loads the config at `path`; relative paths in it count from its folder.
    /// - Parameter overrides: take effect in their order, before anything is checked.
    /// - Returns: the plan, nil where any problem is an error; and all problems, sorted by position.
    package func load(path: String, overrides: [Override] = []) -> (plan: Plan?, problems: [ConfigProblem]) {
        let absolute = FileAccess.absolute(path, in: files.workingDirectory)
        let text: Bytes
        do {
            text = try files.read(absolute, ConfigLoader.sizeLimit)
        } catch {
            return (
                nil,
                [
                    ConfigProblem(
                        "cannot read the config: \(error.reason)", at: .wholeFile, code: "unreadable-config", path: "")
                ]
            )
        }
        return load(text: text, directory: FileAccess.absolute("..", in: absolute), overrides: overrides)
    }

    /// Loads a config from its text.
    /// - Parameter directory: absolute; relative paths count from here.
    package func load(
        text: Bytes, directory: String, overrides: [Override] = []
    ) -> (plan: Plan?, problems: [ConfigProblem]) {
        let (parsed, textProblems) = ConfigText.parse(text)
        guard let parsed else { return (nil, sorted(textProblems)) }
        let (overridden, overrideProblems) = OverrideApplication(registry: registry)
            .apply(parsed.members == nil ? [] : overrides, to: parsed)
        var substitution = EnvironmentSubstitution(environment: environment, text: SourceText(bytes: text))
        let root = mayRefer(text, overrides) ? substitution.apply(to: overridden) : overridden
        let damage = TextDamage(textProblems)
        var check = ConfigCheck(
            reader: NodeReader(registry: registry, environment: environment, directory: directory, files: files),
            isComplete: damage.isComplete)
        check.run(root)
        // A value that could not be read or replaced is reported once, as that.
        let found = check.problems.filter {
            !damage.hides($0) && !substitution.unresolved.contains($0.path)
        }
        let problems = sorted(textProblems + overrideProblems + substitution.problems + found)
        return (problems.contains { $0.severity == .error } ? nil : check.plan, problems)
    }

    /// Whether there is a `$` at all: else the whole config need not be copied.
    private func mayRefer(_ text: Bytes, _ overrides: [Override]) -> Bool {
        !overrides.isEmpty
            || text.withUnsafeBytes { $0.contains { $0 == UInt8(ascii: "$") || $0 == UInt8(ascii: "\\") } }
    }

    private func sorted(_ problems: [ConfigProblem]) -> [ConfigProblem] {
        var seen: Set<ConfigProblem> = []
        return problems.enumerated()
            .sorted { ($0.element.position, $0.offset) < ($1.element.position, $1.offset) }
            .map(\.element).filter { seen.insert($0).inserted }
    }
}
