// feedbus: how a program was started.

public import FeedbusBase

/// The settings of `App.run`, and the options that every program has.
public struct AppSettings: Sendable {
    /// The program's name, for messages and, without `userAgent`, for services.
    public var name: String
    /// What services are told about who asks: a name and an address where to complain.
    public var userAgent: String
    /// `--offline FILE`: a HAR recording that answers in place of the services.
    public var recording: String?
    /// `--once`, and with a recording: what polls, polls once.
    public var once: Bool
    /// What is logged on standard error; `--verbose`: debug.
    public var logLevel: LogLevel
    /// What else the command line says.
    public var arguments: [String]

    public init(
        name: String, userAgent: String? = nil, recording: String? = nil, once: Bool = false,
        logLevel: LogLevel = .warning, arguments: [String] = []
    ) {
        self.name = name
        self.userAgent = userAgent ?? "\(name) (feedbus)"
        self.recording = recording
        self.once = once || recording != nil
        self.logLevel = logLevel
        self.arguments = arguments
    }

    /// Reads a command line without the program's name.
    /// - Throws: `FeedbusError` (`app.usage`) for an option that is unknown or has no value.
    public init(name: String, commandLine: [String]) throws(FeedbusError) {
        self.init(name: name)
        var rest = commandLine[...]
        while let word = rest.popFirst() {
            switch word {
            case "--offline":
                guard let file = rest.popFirst(), !file.hasPrefix("--") else {
                    throw FeedbusError(.appUsage, "--offline needs a recording: --offline FILE.har")
                }
                recording = file
                once = true
            case "--once": once = true
            case "--verbose": logLevel = .debug
            case _ where word.hasPrefix("-"):
                throw FeedbusError(.appUsage, "the option \(word) is unknown; known: \(AppSettings.options)")
            default: arguments.append(word)
            }
        }
    }

    static let options = "--offline FILE.har, --once, --verbose, --help"
}

extension FeedbusError.Code {
    /// The command line is not as the program wants it: exit code 2.
    public static let appUsage = FeedbusError.Code("app.usage")
}
