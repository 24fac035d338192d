// feedbus: the kinds of options that a plugin can declare.

public import FeedbusBase
public import FeedbusJSON

/// A key path that may be kept in a static list.
public typealias OptionPath<Root, Value> = any WritableKeyPath<Root, Value> & Sendable

/// What reading an option's value gave.
public enum OptionReading<Value> {
    case value(Value)
    case problems([ConfigProblem])

    func map<Other>(_ transform: (Value) -> Other) -> OptionReading<Other> {
        switch self {
        case .value(let value): .value(transform(value))
        case .problems(let problems): .problems(problems)
        }
    }
}

extension OptionReading<Secret> {
    /// Reads `{ "secret": … }` where it stands inside an option of a plugin's own making.
    public static func secret(_ name: String, _ value: PositionedValue, _ context: OptionContext) -> OptionReading {
        readSecret(name, value, context)
    }
}

extension Option where Root: PluginOptions {
    /// An option of any kind, with its own reading.
    /// - Parameters:
    ///   - show: the default as JSON text; nil where there is none to show.
    ///   - read: the value, or what is wrong with the text.
    public static func custom<Value: Sendable>(
        _ name: String, _ path: OptionPath<Root, Value>, kind: OptionKind, required: Bool = false, help: String,
        example: String? = nil, show: (Value) -> String?,
        read: @escaping @Sendable (PositionedValue, OptionContext) -> OptionReading<Value>
    ) -> Option {
        let summary = OptionSummary(
            name: name, kind: kind, isRequired: required, defaultText: required ? nil : show(Root()[keyPath: path]),
            help: help, example: example)
        return Option(summary) { root, value, context in
            switch read(value, context) {
            case .value(let decoded):
                root[keyPath: path] = decoded
                return []
            case .problems(let problems):
                return problems
            }
        }
    }

    // MARK: - Text

    /// Any text. `pattern` words what is accepted where `accepts` refuses some.
    public static func string(
        _ name: String, _ path: OptionPath<Root, String>, required: Bool = false,
        pattern: String = "a non-empty string",
        accepts: @escaping @Sendable (String) -> Bool = { !$0.isEmpty }, help: String, example: String? = nil
    ) -> Option {
        custom(
            name, path, kind: .string, required: required, help: help, example: example, show: jsonText,
            read: { value, _ in readString(name, value, pattern, accepts)
            })
    }

    /// Any text, or none.
    public static func string(
        _ name: String, _ path: OptionPath<Root, String?>, pattern: String = "a non-empty string",
        accepts: @escaping @Sendable (String) -> Bool = { !$0.isEmpty }, help: String, example: String? = nil
    ) -> Option {
        custom(
            name, path, kind: .string, help: help, example: example, show: { $0.map(jsonText) ?? nil },
            read: { value, _ in readString(name, value, pattern, accepts).map { $0 }
            })
    }

    /// A list of texts; a single text counts as a list of one where `orOne` is set.
    public static func strings(
        _ name: String, _ path: OptionPath<Root, [String]?>, required: Bool = false, orOne: Bool = false,
        pattern: String = "a non-empty string", accepts: @escaping @Sendable (String) -> Bool = { !$0.isEmpty },
        help: String, example: String? = nil
    ) -> Option {
        custom(
            name, path, kind: orOne ? .either([.list(.string), .string]) : .list(.string), required: required,
            help: help,
            example: example, show: { $0.map { "[" + $0.map { jsonText($0) }.joined(separator: ", ") + "]" } },
            read: { value, _ in
                if orOne, value.string != nil { return readString(name, value, pattern, accepts).map { [$0] } }
                guard let elements = value.elements else { return .problems([wrong(name, value, "a list of strings")]) }
                var texts: [String] = []
                var problems: [ConfigProblem] = []
                for element in elements {
                    switch readString(name, element, pattern, accepts) {
                    case .value(let text): texts.append(text)
                    case .problems(let found): problems += found
                    }
                }
                if elements.isEmpty {
                    problems.append(value.problem("\"\(name)\" must not be an empty list", code: "out-of-range"))
                }
                return problems.isEmpty ? .value(texts) : .problems(problems)
            })
    }

    /// An `http` or `https` URL without user, password, query or fragment; a final slash is dropped.
    /// - Parameter withQuery: it may have a query, and is taken as it is.
    public static func url(
        _ name: String, _ path: OptionPath<Root, String>, required: Bool = false, withQuery: Bool = false,
        help: String, example: String? = nil
    ) -> Option {
        custom(
            name, path, kind: .url, required: required, help: help, example: example, show: jsonText,
            read: { value, _ in
                readURL(name, value, withQuery: withQuery)
            })
    }

    /// As `url`, where none is also fine.
    public static func url(
        _ name: String, _ path: OptionPath<Root, String?>, help: String, example: String? = nil
    ) -> Option {
        custom(
            name, path, kind: .url, help: help, example: example, show: { $0.map(jsonText) ?? nil },
            read: { value, _ in
                readURL(name, value).map { $0 }
            })
    }

    /// A JSON pointer (RFC 6901).
    public static func pointer(
        _ name: String, _ path: OptionPath<Root, JSONPointer>, defaultText: String, help: String
    ) -> Option {
        custom(
            name, path, kind: .pointer, help: help, example: nil, show: { _ in jsonText(defaultText) },
            read: { value, _ in
                readPointer(name, value)
            })
    }

    /// A JSON pointer, or none.
    public static func pointer(_ name: String, _ path: OptionPath<Root, JSONPointer?>, help: String) -> Option {
        custom(
            name, path, kind: .pointer, help: help, example: nil, show: { _ in nil },
            read: { value, _ in
                readPointer(name, value).map { $0 }
            })
    }

    /// One of the raw values of an enumeration.
    public static func choice<Choice: RawRepresentable & CaseIterable & Sendable>(
        _ name: String, _ path: OptionPath<Root, Choice>, help: String, example: String? = nil
    ) -> Option where Choice.RawValue == String {
        let words = Choice.allCases.map(\.rawValue)
        return custom(
            name, path, kind: .choice(words), help: help, example: example, show: { jsonText($0.rawValue) },
            read: { value, _ in
                guard let text = value.string else { return .problems([wrong(name, value, oneOf(words))]) }
                if words.contains(text), let choice = Choice(rawValue: text) { return .value(choice) }
                return .problems([
                    value.problem(
                        "\"\(text)\" is no value of \"\(name)\": \(oneOf(words))", code: "unknown-choice",
                        suggestion: nearestName(to: text, in: words))
                ])
            })
    }

    // MARK: - Numbers and units

    public static func integer(
        _ name: String, _ path: OptionPath<Root, Int>, in range: ClosedRange<Int>, required: Bool = false, help: String,
        example: String? = nil
    ) -> Option {
        custom(
            name, path, kind: .integer(range), required: required, help: help, example: example, show: { String($0) },
            read: { value, _ in readInteger(name, value, range) })
    }

    public static func integer(
        _ name: String, _ path: OptionPath<Root, Int?>, in range: ClosedRange<Int>, help: String, example: String? = nil
    ) -> Option {
        custom(
            name, path, kind: .integer(range), help: help, example: example, show: { $0.map { String($0) } },
            read: { value, _ in readInteger(name, value, range).map { $0 } })
    }

    public static func boolean(
        _ name: String, _ path: OptionPath<Root, Bool>, help: String, example: String? = nil
    ) -> Option {
        custom(
            name, path, kind: .boolean, help: help, example: example, show: { String($0) },
            read: { value, _ in
                if case .bool(let flag) = value.content {
                    .value(flag)
                } else {
                    .problems([wrong(name, value, "true or false")])
                }
            })
    }

    /// A duration with its unit.
    public static func duration(
        _ name: String, _ path: OptionPath<Root, Duration>, in range: ClosedRange<Duration>, help: String,
        example: String? = nil
    ) -> Option {
        custom(
            name, path, kind: .duration(range), help: help, example: example, show: { jsonText($0.text) },
            read: { value, _ in readDuration(name, value, range) })
    }

    /// A duration with its unit, or none.
    public static func duration(
        _ name: String, _ path: OptionPath<Root, Duration?>, in range: ClosedRange<Duration>, help: String,
        example: String? = nil
    ) -> Option {
        custom(
            name, path, kind: .duration(range), help: help, example: example,
            show: { $0.map { jsonText($0.text) } ?? nil },
            read: { value, _ in readDuration(name, value, range).map { $0 } })
    }

    /// A number of bytes with its unit.
    public static func size(
        _ name: String, _ path: OptionPath<Root, Int>, in range: ClosedRange<Int>, help: String, example: String? = nil
    ) -> Option {
        custom(
            name, path, kind: .size(range), help: help, example: example, show: { jsonText(ByteSize.text($0)) },
            read: { value, _ in readSize(name, value, range) })
    }

    /// A number of bytes with its unit, or none.
    public static func size(
        _ name: String, _ path: OptionPath<Root, Int?>, in range: ClosedRange<Int>, help: String, example: String? = nil
    ) -> Option {
        custom(
            name, path, kind: .size(range), help: help, example: example,
            show: { $0.map { jsonText(ByteSize.text($0)) } ?? nil },
            read: { value, _ in readSize(name, value, range).map { $0 } })
    }

    // MARK: - Structure

    /// `{ "secret": "env:NAME" }` or `{ "secret": "file:PATH" }`. One final line break of a file is cut off; a value with
    /// line breaks or other control characters is refused, as it could not stand in a header.
    public static func secret(_ name: String, _ path: OptionPath<Root, Secret?>, help: String) -> Option {
        custom(
            name, path, kind: .secret, help: help, example: "{ \"secret\": \"env:NAME\" }", show: { _ in nil },
            read: { value, context in readSecret(name, value, context).map { $0 } })
    }

    /// An object with options of its own.
    public static func object<Nested: PluginOptions>(
        _ name: String, _ path: OptionPath<Root, Nested>, help: String, example: String? = nil
    ) -> Option {
        custom(
            name, path, kind: .object(Nested.summaries), help: help, example: example, show: { _ in nil },
            read: { value, context in
                let (nested, problems) = Nested.decode(value, owner: value, context: context)
                return problems.isEmpty ? .value(nested) : .problems(problems)
            })
    }

    /// An object with options of its own, or none.
    public static func object<Nested: PluginOptions>(
        _ name: String, _ path: OptionPath<Root, Nested?>, help: String, example: String? = nil
    ) -> Option {
        custom(
            name, path, kind: .object(Nested.summaries), help: help, example: example, show: { _ in nil },
            read: { value, context in
                let (nested, problems) = Nested.decode(value, owner: value, context: context)
                return problems.isEmpty ? .value(nested) : .problems(problems)
            })
    }
}
