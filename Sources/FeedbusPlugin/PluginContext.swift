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
    /// What is a node's own. All else is shared by the contexts of a graph.
    private struct Fields: Sendable {
        var shared: Boxed<PluginSurroundings>
        var node: String
        var log: Log
        var retry: RetryPolicy
        var onError: ErrorPolicy
        var seed: UInt64
        var services: any PluginServices
        /// Nil: it is made when it is asked for.
        var http: PoliteClient?
    }

    private var box: Boxed<Fields>

    /// A context that is told all by itself.
    package init(
        node: String, log: Log, clock: any EventClock, mode: RunMode, retry: RetryPolicy,
        onError: ErrorPolicy, http: PoliteClient, host: any LoopHost, directory: String, seed: UInt64,
        headline: @escaping @Sendable (Event) -> String?,
        countDropped: @escaping @Sendable (Int) -> Void = { _ in },
        refused: @escaping @Sendable (Event, _ reason: String) -> Void = { event, _ in
            event.receipt?.report(.deadLettered)
        },
        refusedText: (@Sendable (Bytes, _ reason: String) -> Void)? = nil,
        loadCursor: @escaping @Sendable (String) async throws -> Bytes?
    ) {
        box = Boxed(
            Fields(
                shared: Boxed(
                    PluginSurroundings(
                        clock: clock, mode: mode, host: host, directory: directory, headline: headline,
                        http: { _, _, _, _, _ in http })),
                node: node, log: log, retry: retry, onError: onError, seed: seed,
                services: GivenServices(
                    dropped: countDropped, refused: refused, refusedText: refusedText ?? { _, _ in countDropped(1) },
                    textsAreSettled: { true },
                    loadCursor: loadCursor),
                http: http))
    }

    /// The context of one node of many.
    package init(
        node: String, log: Log, retry: RetryPolicy, onError: ErrorPolicy, seed: UInt64,
        shared: Boxed<PluginSurroundings>, services: any PluginServices
    ) {
        box = Boxed(
            Fields(
                shared: shared, node: node, log: log, retry: retry, onError: onError, seed: seed, services: services,
                http: nil))
    }

    private mutating func changeServices(
        dropped: (@Sendable (Int) -> Void)? = nil, refusedText: (@Sendable (Bytes, String) -> Void)? = nil,
        loadCursor: (@Sendable (String) async throws -> Bytes?)? = nil
    ) {
        let old = box.services
        box.services = GivenServices(
            dropped: dropped ?? { old.dropped($0) }, refused: { old.refused($0, reason: $1) },
            refusedText: refusedText ?? { old.refusedText($0, reason: $1) },
            textsAreSettled: { await old.textsAreSettled() },
            loadCursor: loadCursor ?? { try await old.loadCursor($0) })
    }

    /// The node's name in the config.
    public var node: String {
        get { box.node }
        set { box.node = newValue }
    }

    public var log: Log {
        get { box.log }
        set { box.log = newValue }
    }

    /// The only source of time.
    public var clock: any EventClock {
        get { box.shared.clock }
        set { box.shared.clock = newValue }
    }

    public var mode: RunMode {
        get { box.shared.mode }
        set { box.shared.mode = newValue }
    }

    /// The node's `retry`; already applied to polls by `http`, and to writes by the runtime.
    public var retry: RetryPolicy {
        get { box.retry }
        set { box.retry = newValue }
    }

    /// The node's `on_error`, for stages.
    public var onError: ErrorPolicy {
        get { box.onError }
        set { box.onError = newValue }
    }

    /// The polite client, in this node's name. It may be made anew each time: budgets and back-off are shared by all.
    public var http: PoliteClient {
        get {
            let fields = box.value
            if let http = fields.http { return http }
            // Jitter that begins anew with each client must not be the same each time.
            let seed = fields.seed ^ UInt64(bitPattern: clock.now.nanoseconds)
            return fields.shared.http(fields.node, fields.retry, fields.log, clock, seed)
        }
        set { box.http = newValue }
    }

    /// Files, pipes, processes and the thread pool of the loop that hosts the plugin.
    public var host: any LoopHost {
        get { box.shared.host }
        set { box.shared.host = newValue }
    }

    /// Relative paths in options count from here: the folder of the config file.
    public var directory: String {
        get { box.shared.directory }
        set { box.shared.directory = newValue }
    }

    /// Seed for the node's random numbers (jitter).
    public var seed: UInt64 {
        get { box.seed }
        set { box.seed = newValue }
    }

    /// A short text for any event that a plugin of this program knows.
    public var headline: @Sendable (Event) -> String? {
        get { box.shared.headline }
        set { box.shared.headline = newValue }
    }

    package var dropped: @Sendable (Int) -> Void {
        get { { [services = box.services] in services.dropped($0) } }
        set { changeServices(dropped: newValue) }
    }

    /// What takes texts that are no events.
    package var refusedText: @Sendable (Bytes, _ reason: String) -> Void {
        get { { [services = box.services] in services.refusedText($0, reason: $1) } }
        set { changeServices(refusedText: newValue) }
    }

    package var loadCursor: @Sendable (String) async throws -> Bytes? {
        get { { [services = box.services] in try await services.loadCursor($0) } }
        set { changeServices(loadCursor: newValue) }
    }

    /// The executor of the plugin's actor.
    public var executor: UnownedSerialExecutor { box.shared.host.serialExecutor }

    /// Says that a stage left events out because it could not treat them (`on_error: "drop"`): they are counted in the
    /// node's name. Events that a stage leaves out because that is its job are not counted.
    public func countDropped(_ count: Int) { box.services.dropped(count) }

    /// Gives up on one event that cannot be treated, while its neighbours go on: it is counted as refused and logged, in
    /// the node's name, and the source may move on. Leave the event out of what the stage emits.
    /// - Parameter reason: for people, without the event's id.
    public func refuse(_ event: Event, reason: String) { box.services.refused(event, reason: reason) }

    /// Sets a text aside that is no event: a line of a source that cannot be read. It is kept with the dead letters, as it
    /// is, and counted as one; without a store for them it is counted as dropped. Logging it is the source's own.
    /// - Parameter reason: for people.
    public func setAside(_ text: Bytes, reason: String) { box.services.refusedText(text, reason: reason) }

    /// Waits until every text that was set aside is kept, or was dropped by a policy and counted. To be called before a
    /// cursor moves behind them, and every thousand of them or few megabytes: what waits for the store is bounded.
    /// - Returns: false where the store did not take one of this run: then the cursor must stay before it, so that it comes
    ///   again at the next start.
    public func textsAreSettled() async -> Bool { await box.services.textsAreSettled() }

    /// What was last saved under `key` by `Output.emit(_:saving:)`, also in an earlier run; nil at first.
    public func cursor(_ key: String = "cursor") async throws -> Bytes? {
        try await box.services.loadCursor(key)
    }

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
