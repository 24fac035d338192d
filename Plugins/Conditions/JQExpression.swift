// feedbus: a jq expression of a config.

public import FeedbusJQ
public import FeedbusPlugin
import Synchronization

/// A jq expression that compiles.
public final class JQExpression: Sendable {
    public let text: String
    /// The program that showed that it compiles waits for the one who runs it, as compiling takes long.
    private let spare: Mutex<JQProgram?>

    /// - Throws: `JQCompileError` with jq's message.
    public init(_ text: String) throws(JQCompileError) {
        self.text = text
        spare = Mutex(try JQProgram(text))
    }

    /// A program of the caller's own: they are for one thread at a time.
    func program() throws(JQCompileError) -> JQProgram {
        let made = spare.withLock { program in
            defer { program = nil }
            return program
        }
        if let made { return made }
        return try JQProgram(text)
    }

    /// Why an event is refused.
    public func failure(_ message: String) -> String { "the jq expression \"\(shown)\" failed: \(message)" }

    private var shown: String { text.count > 80 ? text.prefix(80) + "…" : text }

    /// A value of a config as an expression.
    public static func read(_ name: String, _ value: PositionedValue) -> OptionReading<JQExpression> {
        guard let text = value.string else {
            return .problems([
                value.problem("\"\(name)\" must be a jq expression, found \(value.kindName)", code: "wrong-type")
            ])
        }
        do { return .value(try JQExpression(text)) } catch {
            return .problems([
                value.problem("\"\(name)\" is no jq expression: \(error.message)", code: "bad-expression")
            ])
        }
    }
}

extension Option where Root: PluginOptions {
    /// A jq expression, or none. It is compiled when the config is read; an error has jq's message.
    public static func jq(
        _ name: String, _ path: OptionPath<Root, JQExpression?>, required: Bool = false, help: String, example: String
    ) -> Option {
        .custom(
            name, path, kind: .string, required: required, help: help, example: example, show: { _ in nil },
            read: { value, _ in
                switch JQExpression.read(name, value) {
                case .value(let expression): .value(expression)
                case .problems(let problems): .problems(problems)
                }
            })
    }
}
