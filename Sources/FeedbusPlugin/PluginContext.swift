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
public struct PluginContext: Sendable {
    /// The node's name in the config.
    public var node: String
    public var log: Log
    /// The only source of time.
    public var clock: any EventClock
    public var mode: RunMode
    /// The node's `retry`; already applied to polls by `http`, and to writes by the runtime.
    public var retry: RetryPolicy
    /// The node's `on_error`, for stages.
    public var onError: ErrorPolicy
    /// The polite client, in this node's name.
    public var http: PoliteClient
    /// Files, pipes, processes and the thread pool of the loop that hosts the plugin.
    public var host: any LoopHost
    /// Relative paths in options count from here: the folder of the config file.
    public var directory: String
    /// Seed for the node's random numbers (jitter).
    public var seed: UInt64
    /// A short text for any event that a plugin of this program knows.
    public var headline: @Sendable (Event) -> String?

    package var dropped: @Sendable (Int) -> Void
    /// Where refused events go: it reports them to their receipts, counts and logs them.
    package var refused: @Sendable (Event, _ reason: String) -> Void
    /// Where texts go that are no events.
    package var refusedText: @Sendable (Bytes, _ reason: String) -> Void
    package var loadCursor: @Sendable (String) async throws -> Bytes?

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
        self.node = node
        self.log = log
        self.clock = clock
        self.mode = mode
        self.retry = retry
        self.onError = onError
        self.http = http
        self.host = host
        self.directory = directory
        self.seed = seed
        self.headline = headline
        self.dropped = countDropped
        self.refused = refused
        self.refusedText = refusedText
        self.loadCursor = loadCursor
    }

    /// The executor of the plugin's actor.
    public var executor: UnownedSerialExecutor { host.serialExecutor }

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

    /// A path option made absolute: relative ones count from the config's folder.
    public func resolve(_ path: String) -> String {
        path.hasPrefix("/") ? path : directory + "/" + path
    }
}
