// feedbus: the one declaration of an option, from which come decoding, checks, schema, `describe` and the docs.

public import FeedbusJSON

/// The options of a plugin: a struct with a default for everything, and one declaration an option.
///
///     struct TickOptions: PluginOptions {
///         var every: Duration = .seconds(1)
///         static let options: [Option<TickOptions>] = [
///             .duration("every", \.every, in: .seconds(1)...(.seconds(60)), help: "time between two ticks")
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
    /// An object of names of the user's own, with values of one kind.
    case map(OptionKind)
    /// Any JSON value of this kind (nil: of any), whose inner form the option's own reading knows. The text says to people
    /// what is taken.
    case json(JSONKind?, String)
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
    /// A value as it may stand in a config, as JSON text.
    public var example: String?
    /// What people call it elsewhere; only for "did you mean".
    public var synonyms: [String] = []
}

/// One option: its name, where its value goes, what it accepts, and the words for people.
public struct Option<Root: Sendable>: Sendable {
    public var summary: OptionSummary
    /// Puts a config value into the options; returns what is wrong with it.
    let assign: @Sendable (inout Root, PositionedValue, OptionContext) -> [ConfigProblem]

    init(
        _ summary: OptionSummary,
        assign: @escaping @Sendable (inout Root, PositionedValue, OptionContext) -> [ConfigProblem]
    ) {
        self.summary = summary
        self.assign = assign
    }

    /// Names under which people look for this option; a config that uses one is told the right name.
    public func synonyms(_ names: String...) -> Option {
        var copy = self
        copy.summary.synonyms = names
        return copy
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

extension PluginOptions {
    /// The options as text.
    public static var summaries: [OptionSummary] { options.map(\.summary) }

    /// Decodes an object; every problem in it is found. A missing object counts as an empty one.
    /// - Parameters:
    ///   - value: the object; nil where the config has none.
    ///   - owner: the value to blame for a missing option where there is no object: the node.
    public static func decode(
        _ value: PositionedValue?, owner: PositionedValue, context: OptionContext
    ) -> (options: Self, problems: [ConfigProblem]) {
        var decoded = Self()
        var problems: [ConfigProblem] = []
        // Once: where a type makes its options anew each time, a config of thousands of nodes would feel it.
        let options = Self.options
        guard let members = value.map(\.members) ?? [] else {
            return (
                decoded,
                [value!.problem("expected an object with options, found \(value!.kindName)", code: "wrong-type")]
            )
        }
        for member in members {
            if let option = options.first(where: { $0.summary.name == member.key }) {
                problems += option.assign(&decoded, member.value, context)
            } else {
                problems.append(unknown(member, at: value?.path ?? owner.path, context: context))
            }
        }
        // A misspelt option is not missing as well.
        let meant = Set(problems.lazy.filter { $0.code == "unknown-option" }.compactMap(\.suggestion))
        for option in options where option.summary.isRequired && !meant.contains(option.summary.name) {
            guard !members.contains(where: { $0.key == option.summary.name }) else { continue }
            problems.append(
                (value ?? owner).problem(
                    "missing option \"\(option.summary.name)\" of \(context.owner)\(place(value?.path ?? owner.path))"
                        + " (\(option.summary.help))", code: "missing-option"))
        }
        return (decoded, problems)
    }

    /// Where an object stands; the root of a file needs no words.
    private static func place(_ path: String) -> String { path.isEmpty ? "" : " at \(path)" }

    private static func unknown(
        _ member: PositionedValue.Member, at path: String, context: OptionContext
    ) -> ConfigProblem {
        var names: [String: String] = [:]
        for summary in summaries {
            names[summary.name] = summary.name
            for synonym in summary.synonyms where names[synonym] == nil { names[synonym] = summary.name }
        }
        let nearest = nearestName(to: member.key, in: names.keys.sorted())
        return ConfigProblem(
            "unknown option \"\(member.key)\" of \(context.owner)\(place(path))", at: member.keyPosition,
            code: "unknown-option", path: member.value.path, suggestion: nearest.flatMap { names[$0] })
    }
}
