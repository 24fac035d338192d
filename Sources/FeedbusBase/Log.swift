// feedbus: the front of the log. What is done with a record is the runtime's business.

/// How important a log record is.
public enum LogLevel: Int, Sendable, Comparable, CaseIterable {
    case trace, debug, info, warning, error

    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }

    public var name: String {
        switch self {
        case .trace: "trace"
        case .debug: "debug"
        case .info: "info"
        case .warning: "warning"
        case .error: "error"
        }
    }
}

/// One line of log: what happened, to which node, and details that a program may read.
public struct LogRecord: Sendable {
    public var level: LogLevel
    /// The node of the graph that it is about; nil for the program as a whole.
    public var node: String?
    public var message: String
    /// Details in a fixed order. Values must hold no secret.
    public var details: [(key: String, value: String)]

    public init(level: LogLevel, node: String? = nil, message: String, details: [(key: String, value: String)] = []) {
        self.level = level
        self.node = node
        self.message = message
        self.details = details
    }
}

/// Writes log records in the name of one node.
public struct Log: Sendable {
    public var node: String?
    public var level: LogLevel
    private let write: @Sendable (LogRecord) -> Void

    public init(node: String? = nil, level: LogLevel = .info, write: @escaping @Sendable (LogRecord) -> Void) {
        self.node = node
        self.level = level
        self.write = write
    }

    /// A log that keeps nothing.
    public static let silent = Log(level: .error) { _ in }

    public func named(_ node: String?) -> Log {
        var copy = self
        copy.node = node
        return copy
    }

    public func log(
        _ level: LogLevel, _ message: @autoclosure () -> String, _ details: KeyValuePairs<String, String> = [:]
    ) {
        guard level >= self.level else { return }
        write(LogRecord(level: level, node: node, message: message(), details: details.map { ($0.key, $0.value) }))
    }

    public func debug(_ message: @autoclosure () -> String, _ details: KeyValuePairs<String, String> = [:]) {
        log(.debug, message(), details)
    }
    public func info(_ message: @autoclosure () -> String, _ details: KeyValuePairs<String, String> = [:]) {
        log(.info, message(), details)
    }
    public func warning(_ message: @autoclosure () -> String, _ details: KeyValuePairs<String, String> = [:]) {
        log(.warning, message(), details)
    }
    public func error(_ message: @autoclosure () -> String, _ details: KeyValuePairs<String, String> = [:]) {
        log(.error, message(), details)
    }
}
