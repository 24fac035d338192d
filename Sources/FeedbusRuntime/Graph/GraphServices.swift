// feedbus: what the nodes of a graph share of the outside.

import FeedbusBase
import FeedbusLoop
import FeedbusPlugin
import FeedbusStore

/// What the nodes of a graph share of the outside.
package struct GraphServices: Sendable {
    package var host: any LoopHost
    package var clock: any EventClock
    /// Further loops; stages and sinks run there, and all else on the first, which is `host` and `clock`.
    package var moreLoops: [GraphLoop]
    package var log: Log
    package var mode: RunMode
    package var seed: UInt64
    package var headline: @Sendable (Event) -> String?
    /// The polite client in a node's name.
    package var http: @Sendable (_ node: String, RetryPolicy, Log, any EventClock, _ seed: UInt64) -> PoliteClient
    package var loadCursor: @Sendable (_ node: String, _ key: String) async throws -> Bytes?
    /// Saves the cursors of some nodes, all or nothing.
    package var saveCursors: @Sendable ([(node: String, cursors: [CursorUpdate])]) async throws -> Void
    /// Durable subjects and dead letters; nil: nothing can be set aside, and every subject is in memory.
    package var store: StateStore?
    /// Called when much less memory is needed than a moment ago.
    package var memoryIsFree: @Sendable () -> Void

    package init(
        host: any LoopHost, clock: any EventClock, log: Log, mode: RunMode, seed: UInt64,
        headline: @escaping @Sendable (Event) -> String?,
        http:
            @escaping @Sendable (_ node: String, RetryPolicy, Log, any EventClock, _ seed: UInt64) ->
            PoliteClient,
        loadCursor: @escaping @Sendable (_ node: String, _ key: String) async throws -> Bytes?,
        saveCursors: @escaping @Sendable ([(node: String, cursors: [CursorUpdate])]) async throws -> Void,
        store: StateStore? = nil, memoryIsFree: @escaping @Sendable () -> Void = {}, moreLoops: [GraphLoop] = []
    ) {
        self.host = host
        self.clock = clock
        self.log = log
        self.mode = mode
        self.seed = seed
        self.headline = headline
        self.http = http
        self.loadCursor = loadCursor
        self.saveCursors = saveCursors
        self.store = store
        self.memoryIsFree = memoryIsFree
        self.moreLoops = moreLoops
    }
}
