// feedbus: which program to start, and how.

/// A program with its arguments. It is run without a shell.
public struct ChildCommand: Sendable {
    /// The program (searched for in `PATH` when it has no slash) and its arguments; at least one.
    public var arguments: [String]
    /// The folder that it starts in; nil: the one of this process.
    public var workingDirectory: String?
    /// All of its environment; nil: that of this process.
    public var environment: [String: String]?
    /// True: a pipe that `ChildProcess.write` feeds. False: `/dev/null`.
    public var stdin: Bool
    /// True: a pipe that `ChildProcess.readOutput` reads. False: `/dev/null`.
    public var stdout: Bool
    /// True: a pipe that `ChildProcess.readErrors` reads. False: `/dev/null`.
    public var stderr: Bool

    public init(
        _ arguments: [String], workingDirectory: String? = nil, environment: [String: String]? = nil,
        stdin: Bool = true, stdout: Bool = true, stderr: Bool = true
    ) {
        self.arguments = arguments
        self.workingDirectory = workingDirectory
        self.environment = environment
        self.stdin = stdin
        self.stdout = stdout
        self.stderr = stderr
    }
}

/// How a child process ended.
public enum ChildExit: Sendable, Hashable, CustomStringConvertible {
    /// It ended by itself, with this exit code (0...255).
    case code(Int32)
    /// A signal ended it.
    case signal(Int32)

    public var description: String {
        switch self {
        case .code(let code): "exit code \(code)"
        case .signal(let number): "signal \(number)"
        }
    }
}
