// feedbus: what became of a simulated run.

public import FeedbusBase
public import FeedbusPlugin

/// A run that has kept every promise: what came out, and what happened on the way.
public struct SimulationResult: Sendable {
    /// An event that a sink has written.
    public struct Delivery: Sendable {
        public var event: Event
        /// Since the start of the life in which it was written.
        public var time: Duration
        /// 1...
        public var life: Int
    }

    /// A request that was sent, and the status or error that came of it.
    public struct Request: Sendable {
        public var node: String
        /// `GET https://example.org/feed`, without secrets.
        public var request: String
        /// `200`, or the code of the error, `http.reset`.
        public var answer: String
        public var time: Duration
        public var life: Int
    }

    /// How a life of the program came to its end.
    public enum End: String, Sendable {
        /// By itself, or because its time was over.
        case ended
        /// Told to stop at a random moment.
        case stopped
        /// Killed at a random moment.
        case crashed
    }

    /// One life of the program, from a start to an end.
    public struct Life: Sendable {
        public var end: End
        /// The program's exit code; nil after a crash.
        public var exitCode: Int32?
        public var elapsed: Duration
        /// Jobs of the loop.
        public var jobs: Int
    }

    public var seed: UInt64
    public var lives: [Life]
    /// By sink, in the order of writing.
    public var deliveries: [String: [Delivery]]
    public var requests: [Request]
    /// By source and key: what the last life left.
    public var cursors: [String: [String: Bytes]]
    public var log: [LogRecord]
    /// One line for each thing that happened. The same seed gives the same lines, byte for byte.
    public var trace: [String]
    /// Of all lines of the trace.
    public var traceHash: String

    /// What a sink has written: the events' ids.
    public func ids(_ sink: String) -> [String] { (deliveries[sink] ?? []).map(\.event.id.string) }

    /// What was logged at this level and above.
    public func messages(_ level: LogLevel = .warning) -> [String] {
        log.filter { $0.level >= level }.map { ($0.node.map { "\($0): " } ?? "") + $0.message }
    }
}
