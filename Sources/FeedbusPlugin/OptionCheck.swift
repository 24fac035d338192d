// feedbus: what a plugin says about options that are each right on their own.

public import FeedbusJSON

/// Collects what `Plugin.check` finds. Used on one thread, while a config is checked; nothing may be opened or started.
public final class OptionCheck {
    /// The plugin's name, for messages.
    public let owner: String
    /// The node in the config.
    public let node: PositionedValue
    /// The folder of the config file: relative paths count from there.
    public let directory: String
    public let environment: [String: String]
    /// Says whether a path is an executable file.
    private let isExecutable: (String) -> Bool

    package private(set) var problems: [ConfigProblem] = []
    /// Files that this node writes; no other node may.
    package private(set) var claimedFiles: [(path: String, at: PositionedValue)] = []

    package init(
        owner: String, node: PositionedValue, directory: String, environment: [String: String],
        isExecutable: @escaping (String) -> Bool
    ) {
        self.owner = owner
        self.node = node
        self.directory = directory
        self.environment = environment
        self.isExecutable = isExecutable
    }

    /// Where an option stands; the node itself where it was left out.
    private func place(_ option: String?) -> PositionedValue {
        let with = node["with"]
        guard let option else { return with ?? node }
        return with?[option] ?? with ?? node
    }

    /// Reports a problem at an option, or at the node as a whole. The message gets the node's path appended.
    public func problem(_ message: String, at option: String? = nil, code: String, suggestion: String? = nil) {
        let place = place(option)
        problems.append(
            ConfigProblem(
                "\(message) (\(owner) at \(node.path))", at: place.position, code: code, path: place.path,
                suggestion: suggestion))
    }

    /// Says that this node writes the file, so that two nodes on one file are found.
    public func claim(file path: String, at option: String) {
        claimedFiles.append((resolve(path), place(option)))
    }

    /// The path made absolute and free of `.`, `..` and double slashes.
    public func resolve(_ path: String) -> String {
        let absolute = path.hasPrefix("/") ? path : directory + "/" + path
        var parts: [Substring] = []
        for part in absolute.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }

    /// The path of a program, looked for as a shell would; nil where there is none.
    public func findProgram(_ name: String) -> String? {
        if name.contains("/") {
            let path = resolve(name)
            return isExecutable(path) ? path : nil
        }
        for folder in (environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":") {
            let path = "\(folder)/\(name)"
            if isExecutable(path) { return path }
        }
        return nil
    }
}
