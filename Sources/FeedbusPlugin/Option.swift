// feedbus: the one declaration of an option, from which come decoding, checks, schema, `describe` and the docs.

public import FeedbusBase
public import FeedbusJSON

/// The options of a plugin: a struct with a default for everything, and one declaration an option.
///
///     struct TickOptions: PluginOptions {
///         var every: Duration = .seconds(1)
///         static let options: [Option<TickOptions>] = [
///             .duration("every", \.every, in: .seconds(1)..., help: "time between two ticks"),
///         ]
///     }
public protocol PluginOptions: Sendable {
    init()
    static var options: [Option<Self>] { get }
}

/// The kind of value that an option takes, for the schema and for people.
public indirect enum OptionKind: Sendable {
    case string
    case integer(ClosedRange<Int>)
    case boolean
    /// `"250ms" "60s" "5m" "1h" "1d"`
    case duration(ClosedRange<Duration>)
    /// `"64KiB" "10MB"`
    case size(ClosedRange<Int>)
    case choice([String])
    /// `{ "secret": "env:NAME" }` or `{ "secret": "file:PATH" }`
    case secret
    /// A JSON pointer (RFC 6901).
    case pointer
    case url
    case list(OptionKind)
    /// An object with options of its own.
    case object([OptionSummary])
    /// One of several forms.
    case either([OptionKind])
}

/// An option as text, for `describe`, the schema and the docs.
public struct OptionSummary: Sendable {
    public var name: String
    public var kind: OptionKind
    public var isRequired: Bool
    /// The default as JSON text; nil where there is none.
    public var defaultText: String?
    public var help: String
    public var example: String?
}

/// One option: its name, where its value goes, what it accepts, and the words for people.
public struct Option<Root: Sendable>: Sendable {
    public var summary: OptionSummary
    /// Puts a config value into the options, or says what is wrong with it.
    let assign: @Sendable (inout Root, PositionedValue, OptionContext) -> [ConfigProblem]

    public init(
        _ summary: OptionSummary,
        assign: @escaping @Sendable (inout Root, PositionedValue, OptionContext) -> [ConfigProblem]
    ) {
        self.summary = summary
        self.assign = assign
    }
}

/// What decoding an option may need from outside.
public struct OptionContext: Sendable {
    /// `Jokes`, for messages.
    public var owner: String
    public var environment: [String: String]
    /// Reads a secret's file; relative paths count from the config's folder. Nil where it cannot be read.
    public var readFile: @Sendable (String) -> String?

    public init(owner: String, environment: [String: String], readFile: @escaping @Sendable (String) -> String?) {
        self.owner = owner
        self.environment = environment
        self.readFile = readFile
    }
}
