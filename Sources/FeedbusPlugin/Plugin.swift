// feedbus: the three kinds of plugin.

import FeedbusBase
public import FeedbusFlow

/// A source, stage or sink: an actor that runs on the loop that its context names.
///
/// Conform through `Source`, `Stage` or `Sink`. Keep the context that `init` receives in `let context`; that is also
/// what puts the actor on its loop. Start work of your own with `context.task`, never with `Task { }`.
public protocol Plugin: Actor {
    associatedtype Options: PluginOptions

    /// The name in a config's `"plugin"`: `"GitHubEvents"`.
    static var name: String { get }
    /// One line for `feedbus list`.
    static var summary: String { get }
    /// A short text for one of this plugin's events (`"octocat starred apple/swift"`), or nil for any other event.
    static func headline(of event: Event) -> String?
    /// What is wrong with options that are each right on their own; also what they exclude each other from.
    static func check(_ options: Options, _ checking: OptionCheck)

    nonisolated var context: PluginContext { get }

    /// Touches no file and no network: everything that can fail outside happens in `run`, `open` or on the first event.
    init(options: Options, context: PluginContext) throws
}

extension Plugin {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { context.executor }

    public static func headline(of event: Event) -> String? { nil }
    public static func check(_ options: Options, _ checking: OptionCheck) {}
}

/// Emits events.
public protocol Source: Plugin {
    /// Emits until the source is exhausted (returns), fails (throws: it is started again after a pause, unless the
    /// error says that retrying is useless), or its task is cancelled (leave at once, by throwing `CancellationError`).
    func run(_ output: Output) async throws
}

/// Turns a flow of events into another.
public protocol Stage: Plugin {
    /// Called once each time the stage is started. Copy events rather than making new ones where an event out stands
    /// for an event in: a copy carries the receipt.
    func transform(_ input: Flow<Event>) async throws -> Flow<Event>
}

/// Consumes events.
public protocol Sink: Plugin {
    /// Called before the first write, and again after a restart.
    func open() async throws
    /// Returns when the events are where the user was promised. What it throws decides: `isRetriable` errors are tried
    /// again by the node's `retry`, then the events are set aside; `SinkFinished` ends the sink without a fault.
    func write(_ events: Chunk<Event>) async throws
    /// SIGHUP: open files anew by their names.
    func reopen() async throws
    /// Called once at the end: flush what is left.
    func close() async throws
}

extension Sink {
    public func open() async throws {}
    public func reopen() async throws {}
    public func close() async throws {}
}

/// Thrown by a sink that has come to a normal end by itself, such as a console whose reader has gone.
public struct SinkFinished: Error, Sendable {
    public var reason: String
    public init(_ reason: String) { self.reason = reason }
}
