// feedbus: what a plugin gets from its host.

public import FeedbusBase
public import FeedbusHTTP
public import FeedbusLoop

/// How the program was started, as far as a plugin must know.
public struct RunMode: Sendable {
    /// `--once`: poll once, then end.
    public var once: Bool
    /// `--offline`: answers come from the recording only.
    public var offline: Bool

    public init(once: Bool = false, offline: Bool = false) {
        self.once = once
        self.offline = offline
    }
}

/// What a stage does with an event that it cannot treat: the node's `on_error`.
public enum ErrorPolicy: String, Sendable, CaseIterable {
    /// The event goes on as it came, marked.
    case pass
    /// The event goes no further; counted.
    case drop
    /// The stage fails: it is started again, and given up when that does not help.
    case fail
}

/// A plugin's view of its host: all that it may use of the outside.
///
/// A value that is as small as a reference: of thousands of nodes, each has several copies, and so has each of their
/// calls that is under way.
public struct PluginContext: Sendable {
    private struct Fields: Sendable {
        var node: String
        var log: Log
        var clock: any EventClock
        var mode: RunMode
        var retry: RetryPolicy
        var onError: ErrorPolicy
        var http: PoliteClient
        var host: any LoopHost
        var directory: String
        var seed: UInt64
        var headline: @Sendable (Event) -> String?
        var dropped: @Sendable (Int) -> Void
        var refused: @Sendable (Event, _ reason: String) -> Void
        var refusedText: @Sendable (Bytes, _ reason: String) -> Void
        var loadCursor: @Sendable (String) async throws -> Bytes?
    }

    private final class Box: Sendable {
        let fields: Fields
        init(_ fields: Fields) { self.fields = fields }
    }

    private var box: Box

    package init(
        node: String, log: Log, clock: any EventClock, mode: RunMode, retry: RetryPolicy,
        onError: ErrorPolicy, http: PoliteClient, host: any LoopHost, directory: String, seed: UInt64,
        headline: @escaping @Sendable (Event) -> String?,
        countDropped: @escaping @Sendable (Int) -> Void = { _ in },
        refused: @escaping @Sendable (Event, _ reason: String) -> Void = { event, _ in
            event.receipt?.report(.deadLettered)
        },
        refusedText: @escaping @Sendable (Bytes, _ reason: String) -> Void = { _, _ in },
        loadCursor: @escaping @Sendable (String) async throws -> Bytes?
    ) {
        box = Box(
            Fields(
                node: node, log: log, clock: clock, mode: mode, retry: retry, onError: onError, http: http, host: host,
                directory: directory, seed: seed, headline: headline, dropped: countDropped, refused: refused,
                refusedText: refusedText, loadCursor: loadCursor))
    }

    private mutating func change<Value>(_ field: WritableKeyPath<Fields, Value>, to value: Value) {
        var fields = box.fields
        fields[keyPath: field] = value
        box = Box(fields)
    }

    /// The node's name in the config.
    public var node: String {
        get { box.fields.node }
        set { change(\.node, to: newValue) }
    }

    public var log: Log {
        get { box.fields.log }
        set { change(\.log, to: newValue) }
    }

    /// The only source of time.
    public var clock: any EventClock {
        get { box.fields.clock }
        set { change(\.clock, to: newValue) }
    }

    public var mode: RunMode {
        get { box.fields.mode }
        set { change(\.mode, to: newValue) }
    }

    /// The node's `retry`; already applied to polls by `http`, and to writes by the runtime.
    public var retry: RetryPolicy {
        get { box.fields.retry }
        set { change(\.retry, to: newValue) }
    }

    /// The node's `on_error`, for stages.
    public var onError: ErrorPolicy {
        get { box.fields.onError }
        set { change(\.onError, to: newValue) }
    }

    /// The polite client, in this node's name.
    public var http: PoliteClient {
        get { box.fields.http }
        set { change(\.http, to: newValue) }
    }

    /// Files, pipes, processes and the thread pool of the loop that hosts the plugin.
    public var host: any LoopHost {
        get { box.fields.host }
        set { change(\.host, to: newValue) }
    }

    /// Relative paths in options count from here: the folder of the config file.
    public var directory: String {
        get { box.fields.directory }
        set { change(\.directory, to: newValue) }
    }

    /// Seed for the node's random numbers (jitter).
    public var seed: UInt64 {
        get { box.fields.seed }
        set { change(\.seed, to: newValue) }
    }

    /// A short text for any event that a plugin of this program knows.
    public var headline: @Sendable (Event) -> String? {
        get { box.fields.headline }
        set { change(\.headline, to: newValue) }
    }

    package var dropped: @Sendable (Int) -> Void {
        get { box.fields.dropped }
        set { change(\.dropped, to: newValue) }
    }

    /// Where refused events go: it reports them to their receipts, counts and logs them.
    package var refused: @Sendable (Event, _ reason: String) -> Void { box.fields.refused }

    /// Where texts go that are no events.
    package var refusedText: @Sendable (Bytes, _ reason: String) -> Void { box.fields.refusedText }

    package var loadCursor: @Sendable (String) async throws -> Bytes? {
        get { box.fields.loadCursor }
        set { change(\.loadCursor, to: newValue) }
    }

    /// The executor of the plugin's actor.
    public var executor: UnownedSerialExecutor { box.fields.host.serialExecutor }

    /// Says that a stage left events out because it could not treat them (`on_error: "drop"`): they are counted in the
    /// node's name. Events that a stage leaves out because that is its job are not counted.
    public func countDropped(_ count: Int) { dropped(count) }

    /// Gives up on one event that cannot be treated, while its neighbours go on: it is counted as refused and logged, in
    /// the node's name, and the source may move on. Leave the event out of what the stage emits.
    /// - Parameter reason: for people, without the event's id.
    public func refuse(_ event: Event, reason: String) { refused(event, reason) }

    /// Sets a text aside that is no event: a line of a source that cannot be read. It is kept with the dead letters, as it
    /// is; counting and logging it are the source's own.
    /// - Parameter reason: for people.
    public func setAside(_ text: Bytes, reason: String) { refusedText(text, reason) }

    /// What was last saved under `key` by `Output.emit(_:saving:)`, also in an earlier run; nil at first.
    public func cursor(_ key: String = "cursor") async throws -> Bytes? { try await loadCursor(key) }

    /// Starts work on the plugin's loop. An unstructured `Task { }` would leave it.
    @discardableResult
    public func task<Success: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Success
    ) -> Task<Success, any Error> {
        host.task(operation)
    }

    /// Runs work in a task of its own, and waits for it; it is cancelled where the caller is.
    ///
    /// For tasks that wait for long between short pieces of work: the memory of a task's calls grows with the deepest one
    /// and is given back when the task ends, so a source that sleeps would keep what its polls needed.
    public func apart<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let task = task(work)
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// A path option made absolute: relative ones count from the config's folder.
    public func resolve(_ path: String) -> String {
        path.hasPrefix("/") ? path : directory + "/" + path
    }
}
