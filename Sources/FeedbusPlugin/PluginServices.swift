// feedbus: what a host does for one node of a graph.

import FeedbusBase
import FeedbusHTTP
import FeedbusLoop

/// What a plugin may ask of its host in the name of its node. One object a node, as there may be thousands.
package protocol PluginServices: AnyObject, Sendable {
    /// Events that a stage left out because it could not treat them.
    func dropped(_ count: Int)
    /// An event that the plugin gives up: it is reported to its receipt, counted and logged.
    func refused(_ event: Event, reason: String)
    /// A text that is no event: it is kept and counted as that, or counted as dropped where nothing can be kept.
    func refusedText(_ text: Bytes, reason: String)
    /// Waits until every such text is kept, or dropped by a policy; false where one could not be.
    func textsAreSettled() async -> Bool
    func loadCursor(_ key: String) async throws -> Bytes?
}

/// Services that are given one by one.
final class GivenServices: PluginServices {
    let countDropped: @Sendable (Int) -> Void
    let refuse: @Sendable (Event, _ reason: String) -> Void
    let refuseText: @Sendable (Bytes, _ reason: String) -> Void
    let settleTexts: @Sendable () async -> Bool
    let load: @Sendable (String) async throws -> Bytes?

    init(
        dropped: @escaping @Sendable (Int) -> Void, refused: @escaping @Sendable (Event, _ reason: String) -> Void,
        refusedText: @escaping @Sendable (Bytes, _ reason: String) -> Void,
        textsAreSettled: @escaping @Sendable () async -> Bool,
        loadCursor: @escaping @Sendable (String) async throws -> Bytes?
    ) {
        countDropped = dropped
        refuse = refused
        refuseText = refusedText
        settleTexts = textsAreSettled
        load = loadCursor
    }

    func dropped(_ count: Int) { countDropped(count) }
    func refused(_ event: Event, reason: String) { refuse(event, reason) }
    func refusedText(_ text: Bytes, reason: String) { refuseText(text, reason) }
    func textsAreSettled() async -> Bool { await settleTexts() }
    func loadCursor(_ key: String) async throws -> Bytes? { try await load(key) }
}

/// What the contexts of many nodes have in common.
package struct PluginSurroundings: Sendable {
    package typealias MakeClient =
        @Sendable (_ node: String, RetryPolicy, Log, any EventClock, _ seed: UInt64) -> PoliteClient

    var clock: any EventClock
    var mode: RunMode
    var host: any LoopHost
    var directory: String
    var headline: @Sendable (Event) -> String?
    /// The polite client in a node's name.
    var http: MakeClient

    package init(
        clock: any EventClock, mode: RunMode, host: any LoopHost, directory: String,
        headline: @escaping @Sendable (Event) -> String?, http: @escaping MakeClient
    ) {
        self.clock = clock
        self.mode = mode
        self.host = host
        self.directory = directory
        self.headline = headline
        self.http = http
    }
}
